/** Where lines run and words break: shared by the canvas and the SVG. */

import type { SceneEdge } from './scene.ts';

const PIECES = 8; // straight pieces that approximate a curve

export interface Curve {
  readonly x0: number; readonly y0: number;
  /** Control points of a cubic Bézier curve; on the line itself if it is straight. */
  readonly x1: number; readonly y1: number;
  readonly x2: number; readonly y2: number;
  readonly x3: number; readonly y3: number;
  readonly straight: boolean;
}

/** The line of a relationship from rim to rim, or null if the nodes cover it. */
export function curveOf(edge: SceneEdge, sourceRadius: number, targetRadius: number): Curve | null {
  const { source, target, bend } = edge;
  if (source === target) return loop(edge, sourceRadius);
  const dx = target.x - source.x;
  const dy = target.y - source.y;
  const length = Math.hypot(dx, dy);
  if (length <= sourceRadius + targetRadius) return null;
  const ux = dx / length;
  const uy = dy / length;
  const cx = (source.x + target.x) / 2 - uy * bend * 2;
  const cy = (source.y + target.y) / 2 + ux * bend * 2;
  const [x0, y0] = towards(source.x, source.y, cx, cy, sourceRadius);
  const [x3, y3] = towards(target.x, target.y, cx, cy, targetRadius + 3);
  return { x0, y0, x1: x0 + (cx - x0) * (2 / 3), y1: y0 + (cy - y0) * (2 / 3), x2: x3 + (cx - x3) * (2 / 3), y2: y3 + (cy - y3) * (2 / 3), x3, y3, straight: bend === 0 };
}

/** A loop points away from the middle of the picture, where other lines are fewer. */
function loop({ source: { x, y }, bend }: SceneEdge, radius: number): Curve {
  const outwards = Math.hypot(x, y) < 1 ? -Math.PI / 2 : Math.atan2(y, x);
  const reach = 1.6 * (radius + bend + 16);
  const at = (distance: number, turn: number): [number, number] => [x + distance * Math.cos(outwards + turn), y + distance * Math.sin(outwards + turn)];
  const [x0, y0] = at(radius, -0.45);
  const [x1, y1] = at(reach, -0.52);
  const [x2, y2] = at(reach, 0.52);
  const [x3, y3] = at(radius + 3, 0.45);
  return { x0, y0, x1, y1, x2, y2, x3, y3, straight: false };
}

function towards(x: number, y: number, tx: number, ty: number, distance: number): [number, number] {
  const length = Math.hypot(tx - x, ty - y) || 1;
  return [x + ((tx - x) / length) * distance, y + ((ty - y) / length) * distance];
}

/** The middle of a curve and its direction there, turned so that words on it are not upside down. */
export function middleOf(curve: Curve): { x: number; y: number; angle: number } {
  const x = (curve.x0 + 3 * curve.x1 + 3 * curve.x2 + curve.x3) / 8;
  const y = (curve.y0 + 3 * curve.y1 + 3 * curve.y2 + curve.y3) / 8;
  let angle = Math.atan2(curve.y3 + curve.y2 - curve.y1 - curve.y0, curve.x3 + curve.x2 - curve.x1 - curve.x0);
  if (angle > Math.PI / 2) angle -= Math.PI;
  else if (angle <= -Math.PI / 2) angle += Math.PI;
  return { x, y, angle };
}

/** The three corners of an arrow head at the end of a curve. */
export function arrowOf(curve: Curve, size = 8): [number, number][] {
  const angle = Math.atan2(curve.y3 - curve.y2, curve.x3 - curve.x2);
  const corner = (turn: number): [number, number] => [curve.x3 - size * Math.cos(angle + turn), curve.y3 - size * Math.sin(angle + turn)];
  return [[curve.x3, curve.y3], corner(0.42), corner(-0.42)];
}

/** A curve as a few straight pieces, one after another. */
export function eachPiece(curve: Curve, visit: (x0: number, y0: number, x1: number, y1: number) => void): void {
  if (curve.straight) {
    visit(curve.x0, curve.y0, curve.x3, curve.y3);
    return;
  }
  let [px, py] = [curve.x0, curve.y0];
  for (let i = 1; i <= PIECES; i++) {
    const t = i / PIECES;
    const u = 1 - t;
    const qx = u * u * u * curve.x0 + 3 * u * u * t * curve.x1 + 3 * u * t * t * curve.x2 + t * t * t * curve.x3;
    const qy = u * u * u * curve.y0 + 3 * u * u * t * curve.y1 + 3 * u * t * t * curve.y2 + t * t * t * curve.y3;
    visit(px, py, qx, qy);
    [px, py] = [qx, qy];
  }
}

/** Distance of a point from a curve. */
export function distanceTo(curve: Curve, x: number, y: number): number {
  let least = Infinity;
  eachPiece(curve, (x0, y0, x1, y1) => {
    least = Math.min(least, distanceToPiece(x0, y0, x1, y1, x, y));
  });
  return least;
}

function distanceToPiece(x0: number, y0: number, x1: number, y1: number, x: number, y: number): number {
  const dx = x1 - x0;
  const dy = y1 - y0;
  const along = Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}

export interface Caption {
  readonly lines: readonly string[];
  /** Characters of the longest line; text is drawn smaller if this is more than there is room for. */
  readonly longest: number;
}

/**
 * A caption in at most three lines for a circle with room for `perLine` characters. Words that are a little too long are drawn
 * smaller; longer ones are divided into equal pieces, so that no caption becomes too small to read.
 */
export function breakCaption(text: string, perLine: number): Caption {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=[\s_/-])|(?<=\p{Ll})(?=\p{Lu})/u)) {
    if (line !== '' && (line + word).trimEnd().length > perLine) {
      lines.push(line.trimEnd());
      line = '';
    }
    if (line === '' && word.trimEnd().length > perLine * 1.25) {
      const pieces = dividedWord(word, perLine);
      lines.push(...pieces.slice(0, -1));
      line = pieces.at(-1)!;
    } else line += word;
  }
  if (line.trimEnd() !== '') lines.push(line.trimEnd());
  const shown = lines.length <= 3 ? lines : [lines[0]!, lines[1]!, `${lines[2]!.slice(0, Math.max(1, perLine - 1))}…`];
  return { lines: shown, longest: Math.max(0, ...shown.map((each) => each.length)) };
}

/** A word in pieces of about the same length, with hyphens. */
function dividedWord(word: string, perLine: number): string[] {
  const letters = [...word.trimEnd()];
  const length = Math.ceil(letters.length / Math.ceil(letters.length / perLine));
  const pieces: string[] = [];
  for (let from = 0; from < letters.length; from += length) pieces.push(letters.slice(from, from + length).join(''));
  const space = word.slice(word.trimEnd().length);
  return pieces.map((piece, index) => piece + (index < pieces.length - 1 ? '-' : space));
}
