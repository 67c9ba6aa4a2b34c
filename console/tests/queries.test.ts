import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queries } from '../src/queries.ts';
import { largestFirst } from '../src/schema.ts';

test('the history goes back and forth, and comes back to what was being written', () => {
  const queries = new Queries();
  queries.ran('RETURN 1');
  queries.ran('RETURN 2');
  queries.ran('RETURN 1');
  assert.deepEqual(queries.history.map(({ query }) => query), ['RETURN 1', 'RETURN 2']);
  assert.equal(queries.step(1, 'half'), 'RETURN 1');
  assert.equal(queries.step(1, 'RETURN 1'), 'RETURN 2');
  assert.equal(queries.step(1, 'RETURN 2'), null);
  assert.equal(queries.step(-1, 'RETURN 2'), 'RETURN 1');
  assert.equal(queries.step(-1, 'RETURN 1'), 'half');
  assert.equal(queries.step(-1, 'half'), null);
});

test('saved queries have one of each name, in order', () => {
  const queries = new Queries();
  queries.save('b', 'RETURN 1');
  queries.save('a', 'RETURN 2');
  queries.save('b', 'RETURN 3');
  assert.deepEqual(queries.saved, [{ name: 'a', query: 'RETURN 2' }, { name: 'b', query: 'RETURN 3' }]);
  queries.forget('a');
  assert.equal(queries.saved.length, 1);
});

test('names are listed by how many have them', () => {
  assert.deepEqual([...largestFirst({ few: 2n, none: 0n, many: 30n })], [['many', 30], ['few', 2]]);
});
