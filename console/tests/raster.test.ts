import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pixelOf, Raster } from '../src/graph/raster.ts';

const [WHITE, BLACK] = [pixelOf('#ffffff'), pixelOf('#000000')];

function drawn(width: number, height: number, draw: (raster: Raster) => void): (x: number, y: number) => number {
  const raster = new Raster();
  raster.clear(width, height, WHITE);
  draw(raster);
  return (x, y) => 255 - raster.bytes[4 * (y * width + x)]!;
}

test('a colour becomes its red, green, blue and alpha', () => {
  const raster = new Raster();
  raster.clear(1, 1, pixelOf('#a84a22'));
  assert.deepEqual([...raster.bytes], [0xa8, 0x4a, 0x22, 255]);
});

test('a line in the middle of its pixels darkens these alone, and all of them', () => {
  const at = drawn(20, 20, (raster) => raster.line(4.5, 7.5, 15.5, 7.5, BLACK));
  for (let x = 4; x <= 15; x++) assert.deepEqual([at(x, 6), at(x, 7), at(x, 8)], [0, 255, 0]);
  assert.deepEqual([at(3, 7), at(16, 7)], [0, 0]);
});

test('a line has the same weight in each step, whatever its direction', () => {
  for (const turn of [0, 0.3, 0.8, 1.2, 1.6, 2.5, 3.1, 4, 5.5]) {
    const [dx, dy] = [15 * Math.cos(turn), 15 * Math.sin(turn)];
    const at = drawn(40, 40, (raster) => raster.line(20 - dx, 20 - dy, 20 + dx, 20 + dy, BLACK));
    const flat = Math.abs(dx) >= Math.abs(dy);
    for (let step = 13; step <= 26; step++) {
      let weight = 0;
      for (let across = 0; across < 40; across++) weight += flat ? at(step, across) : at(across, step);
      assert.ok(Math.abs(weight - 255) <= 4, `turn ${turn}, step ${step}: ${weight}`);
    }
  }
});

test('what lies outside is not drawn, and nothing is drawn elsewhere for it', () => {
  const outside = drawn(30, 20, (raster) => {
    raster.line(-50, 5, -2, 15, BLACK);
    raster.line(5, -30, 25, -1, BLACK);
    raster.line(100, 100, 200, 300, BLACK);
    raster.disc(-20, 10, 8, BLACK);
    raster.disc(15, 60, 8, BLACK);
  });
  for (let y = 0; y < 20; y++) for (let x = 0; x < 30; x++) assert.equal(outside(x, y), 0);
  const through = drawn(30, 20, (raster) => raster.line(-1000, 10.5, 1000, 10.5, BLACK));
  for (let y = 0; y < 20; y++) assert.equal(through(15, y), y === 10 ? 255 : 0);
});

test('a line of no length, or of no number, does no harm', () => {
  const at = drawn(10, 10, (raster) => {
    raster.line(5, 5, 5, 5, BLACK);
    raster.line(Number.NaN, 1, 5, 5, BLACK);
  });
  assert.equal(at(1, 1), 0);
});

test('a disc covers its area', () => {
  for (const [x, y, radius] of [[20, 20, 8], [20.3, 19.6, 4.3], [19.5, 20.5, 12.7]] as const) {
    const at = drawn(40, 40, (raster) => raster.disc(x, y, radius, BLACK));
    let covered = 0;
    for (let row = 0; row < 40; row++) for (let column = 0; column < 40; column++) covered += at(column, row) / 255;
    assert.ok(Math.abs(covered - Math.PI * radius * radius) < 0.05 * radius * radius + 1, `${covered}`);
    assert.equal(at(Math.floor(x), Math.floor(y)), 255);
  }
});
