/** A scene as a file of SVG, drawn as on the canvas. */

import { captionSize, type Captions, type Painter, type Theme } from './draw.ts';
import { arrowOf, middleOf } from './geometry.ts';
import type { Scene } from './scene.ts';

export function sceneSvg(scene: Scene, painter: Painter, captions: Captions, theme: Theme): string {
  const box = bounds(scene, 60);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${box.width}" height="${box.height}" viewBox="${box.x} ${box.y} ${box.width} ${box.height}" font-family="${escape(theme.font)}">`,
    `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" fill="${theme.background}"/>`,
    `<g fill="none" stroke="${theme.line}" stroke-width="1.3">`,
  ];
  const arrows: string[] = [];
  const types: string[] = [];
  for (const edge of scene.edges.values()) {
    const curve = painter.curve(edge);
    if (!curve) continue;
    const { x0, y0, x1, y1, x2, y2, x3, y3 } = curve;
    parts.push(curve.straight ? `<path d="M${n(x0)} ${n(y0)}L${n(x3)} ${n(y3)}"/>` : `<path d="M${n(x0)} ${n(y0)}C${n(x1)} ${n(y1)} ${n(x2)} ${n(y2)} ${n(x3)} ${n(y3)}"/>`);
    arrows.push(`<path d="M${arrowOf(curve).map(([x, y]) => `${n(x)} ${n(y)}`).join('L')}z"/>`);
    const { x, y, angle } = middleOf(curve);
    types.push(`<text transform="translate(${n(x)} ${n(y)}) rotate(${n((angle * 180) / Math.PI)})" dy="3">${escape(captions.edge(edge))}</text>`);
  }
  parts.push('</g>', `<g fill="${theme.line}">${arrows.join('')}</g>`);
  parts.push(`<g font-size="10" text-anchor="middle" fill="${theme.lineText}" stroke="${theme.background}" stroke-width="4" paint-order="stroke">${types.join('')}</g>`);
  for (const node of scene.nodes.values()) {
    const radius = painter.radius(node);
    const { lines, longest } = painter.captionOf(node);
    const size = captionSize(radius, longest);
    const words = lines.map((line, i) => `<tspan x="${n(node.x)}" y="${n(node.y + (i - (lines.length - 1) / 2) * size * 1.15 + size * 0.35)}">${escape(line)}</tspan>`);
    parts.push(`<circle cx="${n(node.x)}" cy="${n(node.y)}" r="${radius}" fill="${painter.colour(node)}"/>`);
    parts.push(`<text font-size="${n(size)}" text-anchor="middle" fill="${theme.nodeText}">${words.join('')}</text>`);
  }
  parts.push('</svg>');
  return parts.join('\n');
}

export function bounds(scene: Scene, margin: number): { x: number; y: number; width: number; height: number } {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  const include = (x: number, y: number, room: number): void => {
    left = Math.min(left, x - room);
    right = Math.max(right, x + room);
    top = Math.min(top, y - room);
    bottom = Math.max(bottom, y + room);
  };
  for (const { x, y } of scene.nodes.values()) include(x, y, 0);
  for (const { source, target, bend } of scene.edges.values()) if (source === target) include(source.x, source.y, bend + 40);
  if (left > right) return { x: 0, y: 0, width: 2 * margin, height: 2 * margin };
  return { x: Math.floor(left - margin), y: Math.floor(top - margin), width: Math.ceil(right - left + 2 * margin), height: Math.ceil(bottom - top + 2 * margin) };
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}

export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
