import assert from 'node:assert/strict';
import { test } from 'node:test';
import neo4j from 'neo4j-driver-lite';
import { fromTagged } from '../src/tagged.ts';
import { compare, jsonText, kindOf, toJson, toPlainText, toText } from '../src/values.ts';
import { csvText, rowsJson } from '../src/results/exports.ts';

const { Node, Relationship, Path, PathSegment, Date, Duration, Point } = neo4j.types;
const node = (id: string, name: string): InstanceType<typeof Node> => new Node(0n as never, ['Drug'], { name }, id);
const relationship = new Relationship(0n as never, 0n as never, 0n as never, 'INTERACTS_WITH', {}, 'r', 'a', 'b');

test('values are written as Cypher writes them', () => {
  assert.equal(toText([1n, 1, 1.5, 'it\'s', null, true]), "[1, 1.0, 1.5, 'it\\'s', null, true]");
  assert.equal(toText({ 'a b': 9007199254740993n }), '{`a b`: 9007199254740993}');
  assert.equal(toText(Number.NaN), 'NaN');
  assert.equal(toText(new Date(2024n, 2n, 29n) as never), '2024-02-29');
  assert.equal(toText(new Duration(1n, 2n, 3n, 0n) as never), 'P1M2DT3S');
  assert.equal(toText(new Point(7203n as never, 1, 2)), 'point({srid: 7203, x: 1, y: 2})');
  assert.equal(toPlainText('as it is'), 'as it is');
});

test('nodes, relationships and paths are written as patterns', () => {
  const [a, b] = [node('a', 'A'), node('b', 'B')];
  assert.equal(toText(a), "(:Drug {name: 'A'})");
  assert.equal(toText(new Path(a, b, [new PathSegment(a, relationship, b)])), "(:Drug {name: 'A'})-[:INTERACTS_WITH]->(:Drug {name: 'B'})");
  assert.equal(toText(new Path(b, a, [new PathSegment(b, relationship, a)])), "(:Drug {name: 'B'})<-[:INTERACTS_WITH]-(:Drug {name: 'A'})");
});

test('JSON keeps whole numbers whole, however large, and floats floats', () => {
  assert.equal(jsonText(toJson({ a: 9007199254740993n, b: 2, c: [], d: Number.POSITIVE_INFINITY }), 0), '{\n"a": 9007199254740993,\n"b": 2.0,\n"c": [],\n"d": "Infinity"\n}');
  assert.deepEqual(toJson(node('4:x:0', 'Aspirin')), { elementId: '4:x:0', labels: ['Drug'], properties: { name: 'Aspirin' } });
});

test('the order of values is Cypher\'s: types first, null last', () => {
  const values = [null, 2n, 'b', true, 1.5, 'a', [2n], [1n, 3n], { a: 1n }, Number.NaN];
  assert.deepEqual([...values].sort(compare), [{ a: 1n }, [1n, 3n], [2n], 'a', 'b', true, 1.5, 2n, Number.NaN, null]);
});

test('CSV quotes what has to be quoted, and tells null from an empty string', () => {
  assert.equal(csvText(['a', 'b,c'], [['x "y"', null], ['', 1n]]), 'a,"b,c"\r\n"x ""y""",\r\n"",1\r\n');
  assert.equal(rowsJson(['a'], [[1n]]), '[\n  {\n    "a": 1\n  }\n]');
});

test('tagged JSON becomes values of the driver', () => {
  const tagged = { $type: 'Node', elementId: '4:x:1', labels: ['Gene'], properties: { name: 'TP53', found: { $type: 'Date', value: '1979-01-01' } } };
  const value = fromTagged([tagged, { $type: 'Map', value: { $type: 'mine' } }, { plain: 1n }]) as unknown[];
  assert.equal(kindOf(value[0]), 'node');
  assert.equal(toText(value[0]), "(:Gene {name: 'TP53', found: '1979-01-01'})");
  assert.deepEqual(value[1], { $type: 'mine' });
  assert.deepEqual(value[2], { plain: 1n });
});
