import assert from 'node:assert/strict';
import { test } from 'node:test';
import neo4j from 'neo4j-driver-lite';
import { arrowOf, breakCaption, curveOf, distanceTo, middleOf } from '../src/graph/geometry.ts';
import { Layout } from '../src/graph/layout.ts';
import { Scene } from '../src/graph/scene.ts';
import { bounds, escape } from '../src/graph/svg.ts';
import { readPlan } from '../src/results/plan.ts';

const { Node, Relationship, Path, PathSegment } = neo4j.types;
const node = (id: string): InstanceType<typeof Node> => new Node(0n as never, ['N'], { name: id }, id);
const relationship = (id: string, from: string, to: string): InstanceType<typeof Relationship> => new Relationship(0n as never, 0n as never, 0n as never, 'R', {}, id, from, to);

test('a scene takes nodes, relationships and paths out of any value, each once', () => {
  const scene = new Scene();
  const [a, b] = [node('a'), node('b')];
  scene.add([a, { inner: new Path(a, b, [new PathSegment(a, relationship('r', 'a', 'b'), b)]) }, relationship('r', 'a', 'b'), 7n, null]);
  assert.deepEqual([...scene.nodes.keys()], ['a', 'b']);
  assert.deepEqual([...scene.edges.keys()], ['r']);
  assert.equal(scene.missing.size, 0);
});

test('a relationship waits for its ends', () => {
  const scene = new Scene();
  scene.add(relationship('r', 'a', 'b'));
  assert.deepEqual([...scene.missing], ['a', 'b']);
  scene.add(node('a'));
  assert.equal(scene.edges.size, 0);
  scene.add(node('b'));
  assert.equal(scene.edges.size, 1);
  assert.equal(scene.missing.size, 0);
});

test('a scene that is full says so', () => {
  const scene = new Scene(1);
  assert.equal(scene.add(node('a')), false);
  assert.equal(scene.add(node('b')), true);
  assert.equal(scene.nodes.size, 1);
});

test('what is removed takes its relationships with it', () => {
  const scene = new Scene();
  scene.add([node('a'), node('b'), relationship('r', 'a', 'b')]);
  scene.remove('b');
  assert.equal(scene.edges.size, 0);
});

test('parallel lines bend apart, also where they run against each other', () => {
  const scene = new Scene();
  scene.add([node('a'), node('b'), relationship('r', 'a', 'b'), relationship('s', 'b', 'a')]);
  scene.bendParallels();
  const [r, s] = [...scene.edges.values()];
  const [first, second] = [middleOf(curveOf(r!, 1, 1)!), middleOf(curveOf(s!, 1, 1)!)];
  assert.ok(Math.hypot(first.x - second.x, first.y - second.y) > 10);
});

test('a line runs from rim to rim, and its arrow ends there', () => {
  const [source, target] = [{ x: 0, y: 0 }, { x: 100, y: 0 }] as never[];
  const curve = curveOf({ id: 'r', type: 'R', properties: {}, source: source!, target: target!, bend: 0 }, 10, 20)!;
  assert.deepEqual([curve.x0, curve.x3], [10, 77]);
  assert.deepEqual(arrowOf(curve)[0], [77, 0]);
  assert.equal(distanceTo(curve, 50, 5), 5);
  assert.equal(curveOf({ id: 'r', type: 'R', properties: {}, source: source!, target: target!, bend: 0 }, 60, 60), null);
});

test('captions break at spaces and humps, and are shortened after three lines', () => {
  assert.deepEqual(breakCaption('SideEffect', 6).lines, ['Side', 'Effect']);
  assert.deepEqual(breakCaption('Gastrointestinal bleeding', 8).lines, ['Gastroin-', 'testinal', 'bleeding']);
  assert.deepEqual(breakCaption('Amitriptylin', 8).lines, ['Amitri-', 'ptylin']);
  assert.deepEqual(breakCaption('Somnolence', 8).lines, ['Somnolence']);
  assert.equal(breakCaption('one two three four five six seven', 6).lines.length, 3);
  assert.deepEqual(breakCaption('', 6), { lines: [], longest: 0 });
});

test('the layout comes to rest with nodes apart, and leaves pinned ones alone', () => {
  const scene = new Scene();
  for (let i = 0; i < 30; i++) scene.add(node(`${i}`));
  for (let i = 1; i < 30; i++) scene.add(relationship(`r${i}`, '0', `${i}`));
  const pinned = scene.nodes.get('3')!;
  Object.assign(pinned, { fx: 500, fy: 500 });
  const layout = new Layout(scene, () => 20, (edge) => edge.type);
  while (layout.step());
  const nodes = [...scene.nodes.values()];
  for (const left of nodes) for (const right of nodes) if (left !== right) assert.ok(Math.hypot(left.x - right.x, left.y - right.y) > 30);
  assert.deepEqual([pinned.x, pinned.y], [500, 500]);
  assert.ok(bounds(scene, 10).width > 100);
});

test('nodes of a small graph do not lie on the lines between others', () => {
  const scene = new Scene();
  for (const id of 'abcdefg') scene.add(node(id));
  const pairs = ['ab', 'ac', 'bd', 'cd', 'ae', 'ef', 'fg', 'ag', 'de', 'bg'];
  for (const pair of pairs) scene.add(relationship(pair, pair[0]!, pair[1]!));
  const layout = new Layout(scene, () => 20, () => 'A_LONG_NAME');
  while (layout.step());
  for (const { source, target } of scene.edges.values()) {
    const line = curveOf({ id: '', type: '', properties: {}, source, target, bend: 0 }, 0, 0)!;
    for (const other of scene.nodes.values()) if (other !== source && other !== target) assert.ok(distanceTo(line, other.x, other.y) > 20, `${source.id}${target.id} ${other.id}`);
  }
});

test('text in SVG is escaped', () => {
  assert.equal(escape('<a & "b">'), '&lt;a &amp; &quot;b&quot;&gt;');
});

test('a plan of the driver is read with rows and times where it was profiled', () => {
  const plan = { operatorType: 'Top@neo4j', identifiers: ['n'], arguments: { Details: 'n LIMIT 1', EstimatedRows: 1, Rows: 2n, DbHits: 3n, Time: 1_500_000n, PageCacheHits: 9n, Memory: 0n, Order: 'n ASC' }, children: [{ operatorType: 'AllNodesScan', identifiers: ['n'], arguments: { EstimatedRows: 10 }, children: [] }] };
  const read = readPlan(plan);
  assert.deepEqual([read.operator, read.details, read.rows, read.hits, read.time], ['Top', 'n LIMIT 1', 2, 3, 1.5]);
  assert.deepEqual(read.others, [['Order', 'n ASC']]);
  assert.equal(read.children[0]!.rows, undefined);
  assert.equal(read.children[0]!.details, 'n');
});
