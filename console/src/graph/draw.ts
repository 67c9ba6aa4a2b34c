/** A scene on a canvas, for one frame: lines first, then arrows and names of types, then nodes with their captions. */

import type { Appearance } from './appearance.ts';
import { arrowOf, breakCaption, type Caption, type Curve, curveOf, eachPiece, middleOf } from './geometry.ts';
import { type Pixel, pixelOf, Raster } from './raster.ts';
import type { Scene, SceneEdge, SceneNode } from './scene.ts';

export interface Camera {
  x: number;
  y: number;
  scale: number;
}

export interface Theme {
  readonly background: string;
  readonly line: string;
  readonly lineText: string;
  readonly nodeText: string;
  readonly accent: string;
  readonly font: string;
}

export interface Marks {
  readonly selected: ReadonlySet<string>;
  readonly hovered: string | null;
}

export interface Captions {
  node(node: SceneNode): string;
  edge(edge: SceneEdge): string;
}

interface Frame {
  readonly context: CanvasRenderingContext2D;
  readonly camera: Camera;
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  readonly marks: Marks;
}

// Below these sizes on the screen, text is unreadable and arrows are dots.
const READABLE_RADIUS = 11;
const ARROW_SCALE = 0.3;
const TYPE_SCALE = 0.62;
// And more than this many are only a tangle.
const TYPES_DRAWN = 400;
const WIDE_LINES = 400;
// Beyond this many lines there are no arrows either, and the picture is made of pixels.
const CROWDED = 1500;

export class Painter {
  private readonly captioned = new WeakMap<SceneNode, { text: string; radius: number; caption: Caption }>();

  private readonly raster = new Raster();

  constructor(private readonly scene: Scene, private readonly appearance: Appearance, private readonly captions: Captions) {}

  radius(node: SceneNode): number {
    return this.appearance.radius(this.appearance.deciding(node.labels));
  }

  colour(node: SceneNode): string {
    return this.appearance.colour(this.appearance.deciding(node.labels));
  }

  curve(edge: SceneEdge): Curve | null {
    return curveOf(edge, this.radius(edge.source), this.radius(edge.target));
  }

  captionOf(node: SceneNode): Caption {
    const text = this.captions.node(node);
    const radius = this.radius(node);
    const known = this.captioned.get(node);
    if (known && known.text === text && known.radius === radius) return known.caption;
    const caption = breakCaption(text, charactersIn(radius));
    this.captioned.set(node, { text, radius, caption });
    return caption;
  }

  paint(frame: Frame): void {
    const { context, camera, width, height, theme } = frame;
    const ratio = context.canvas.width / width;
    const edges = this.visibleEdges(frame);
    const nodes = this.visibleNodes(frame);
    const crowded = edges.length > CROWDED;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (crowded) this.paintCrowd(frame, edges, nodes);
    else {
      context.fillStyle = theme.background;
      context.fillRect(0, 0, width, height);
    }
    context.translate(width / 2 + camera.x, height / 2 + camera.y);
    context.scale(camera.scale, camera.scale);
    if (!crowded) this.paintLines(frame, edges);
    this.paintMarkedLines(frame, edges);
    if (camera.scale >= TYPE_SCALE && edges.length <= TYPES_DRAWN) this.paintTypes(frame, edges);
    if (!crowded) this.paintDiscs(frame, nodes);
    this.paintMarks(frame);
    this.paintCaptions(frame, nodes);
  }

  private visibleNodes(frame: Frame): SceneNode[] {
    return [...this.scene.nodes.values()].filter((node) => inView(frame, node, this.radius(node)));
  }

  /** Ground, lines and discs at once. */
  private paintCrowd({ context, camera, width, height, theme }: Frame, edges: readonly [SceneEdge, Curve][], nodes: readonly SceneNode[]): void {
    const { canvas } = context;
    const { raster } = this;
    const ratio = canvas.width / width;
    const scale = camera.scale * ratio;
    const left = (width / 2 + camera.x) * ratio;
    const top = (height / 2 + camera.y) * ratio;
    raster.clear(canvas.width, canvas.height, pixelOf(theme.background));
    const line = pixelOf(theme.line);
    const trace = (x0: number, y0: number, x1: number, y1: number): void => raster.line(x0 * scale + left, y0 * scale + top, x1 * scale + left, y1 * scale + top, line);
    for (const [, curve] of edges) eachPiece(curve, trace);
    const pixels = new Map<string, Pixel>();
    for (const node of nodes) {
      const colour = this.colour(node);
      let pixel = pixels.get(colour);
      if (pixel === undefined) pixels.set(colour, (pixel = pixelOf(colour)));
      raster.disc(node.x * scale + left, node.y * scale + top, this.radius(node) * scale, pixel);
    }
    context.putImageData(new ImageData(raster.bytes, canvas.width, canvas.height), 0, 0);
  }

  private visibleEdges(frame: Frame): [SceneEdge, Curve][] {
    const seen: [SceneEdge, Curve][] = [];
    for (const edge of this.scene.edges.values()) {
      if (!inView(frame, edge.source, 300) && !inView(frame, edge.target, 300) && !crossesView(frame, edge)) continue;
      const curve = this.curve(edge);
      if (curve) seen.push([edge, curve]);
    }
    return seen;
  }

  private paintLines({ context, camera, width, theme }: Frame, edges: readonly [SceneEdge, Curve][]): void {
    const ratio = context.canvas.width / width;
    // A path of thousands of lines that are wider than a pixel takes a browser without a GPU twenty times as long.
    const pixel = 1 / (camera.scale * ratio);
    context.lineWidth = edges.length > WIDE_LINES ? pixel : Math.max(1.3, pixel);
    context.strokeStyle = theme.line;
    context.fillStyle = theme.line;
    context.beginPath();
    for (const [, curve] of edges) traceCurve(context, curve);
    context.stroke();
    if (camera.scale >= ARROW_SCALE) {
      context.beginPath();
      for (const [, curve] of edges) traceArrow(context, curve);
      context.fill();
    }
  }

  private paintMarkedLines({ context, theme, marks }: Frame, edges: readonly [SceneEdge, Curve][]): void {
    context.strokeStyle = theme.accent;
    context.fillStyle = theme.accent;
    context.lineWidth = 2.6;
    for (const [edge, curve] of edges) {
      if (edge.id !== marks.hovered && !marks.selected.has(edge.id)) continue;
      context.beginPath();
      traceCurve(context, curve);
      context.stroke();
      context.beginPath();
      traceArrow(context, curve);
      context.fill();
    }
  }

  private paintTypes({ context, theme }: Frame, edges: readonly [SceneEdge, Curve][]): void {
    context.font = `10px ${theme.font}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineWidth = 4;
    context.lineJoin = 'round';
    context.strokeStyle = theme.background;
    context.fillStyle = theme.lineText;
    for (const [edge, curve] of edges) {
      const text = this.captions.edge(edge);
      const room = curve.straight ? Math.hypot(curve.x3 - curve.x0, curve.y3 - curve.y0) : 200;
      if (text.length * 5.2 > room) continue;
      const { x, y, angle } = middleOf(curve);
      context.save();
      context.translate(x, y);
      context.rotate(angle);
      context.strokeText(text, 0, 0);
      context.fillText(text, 0, 0);
      context.restore();
    }
  }

  private paintDiscs({ context }: Frame, nodes: readonly SceneNode[]): void {
    // One by one: a path of many circles is filled more slowly.
    for (const node of nodes) {
      context.fillStyle = this.colour(node);
      context.beginPath();
      traceCircle(context, node, this.radius(node));
      context.fill();
    }
  }

  private paintCaptions({ context, camera, theme }: Frame, nodes: readonly SceneNode[]): void {
    context.fillStyle = theme.nodeText;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (const node of nodes) if (this.radius(node) * camera.scale >= READABLE_RADIUS) this.paintCaption(context, node, theme);
  }

  private paintMarks({ context, theme, marks }: Frame): void {
    context.strokeStyle = theme.accent;
    context.lineWidth = 3.5;
    for (const node of this.scene.nodes.values()) {
      if (!marks.selected.has(node.id) && marks.hovered !== node.id) continue;
      context.globalAlpha = marks.selected.has(node.id) ? 1 : 0.5;
      context.beginPath();
      traceCircle(context, node, this.radius(node) + 3);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  private paintCaption(context: CanvasRenderingContext2D, node: SceneNode, theme: Theme): void {
    const { lines, longest } = this.captionOf(node);
    const size = captionSize(this.radius(node), longest);
    context.font = `500 ${size}px ${theme.font}`;
    lines.forEach((line, index) => context.fillText(line, node.x, node.y + (index - (lines.length - 1) / 2) * size * 1.15));
  }
}

/** Characters of a line in a node: they are about 0.56 as wide as high, and the rim takes a tenth of the width. */
function charactersIn(radius: number): number {
  return Math.max(4, Math.floor((1.8 * radius) / (0.56 * fullSize(radius))));
}

function fullSize(radius: number): number {
  return Math.max(7, Math.min(13, radius * 0.36));
}

/** The text size in a node whose longest line has this many characters. */
export function captionSize(radius: number, longest: number): number {
  return fullSize(radius) * Math.min(1, charactersIn(radius) / Math.max(1, longest));
}

function inView({ camera, width, height }: Frame, node: SceneNode, margin: number): boolean {
  const x = node.x * camera.scale + camera.x;
  const y = node.y * camera.scale + camera.y;
  const room = margin * camera.scale;
  return Math.abs(x) <= width / 2 + room && Math.abs(y) <= height / 2 + room;
}

/** Whether a line between two nodes out of sight may cross the visible part. */
function crossesView({ camera, width, height }: Frame, { source, target }: SceneEdge): boolean {
  const left = (-width / 2 - camera.x) / camera.scale;
  const right = (width / 2 - camera.x) / camera.scale;
  const top = (-height / 2 - camera.y) / camera.scale;
  const bottom = (height / 2 - camera.y) / camera.scale;
  return Math.max(source.x, target.x) >= left && Math.min(source.x, target.x) <= right && Math.max(source.y, target.y) >= top && Math.min(source.y, target.y) <= bottom;
}

function traceCurve(context: CanvasRenderingContext2D, curve: Curve): void {
  context.moveTo(curve.x0, curve.y0);
  if (curve.straight) context.lineTo(curve.x3, curve.y3);
  else context.bezierCurveTo(curve.x1, curve.y1, curve.x2, curve.y2, curve.x3, curve.y3);
}

function traceArrow(context: CanvasRenderingContext2D, curve: Curve): void {
  const [tip, left, right] = arrowOf(curve);
  context.moveTo(tip![0], tip![1]);
  context.lineTo(left![0], left![1]);
  context.lineTo(right![0], right![1]);
  context.closePath();
}

function traceCircle(context: CanvasRenderingContext2D, node: SceneNode, radius: number): void {
  context.moveTo(node.x + radius, node.y);
  context.arc(node.x, node.y, radius, 0, 2 * Math.PI);
}
