/** The picture as a part of the page: a canvas that is panned, zoomed and dragged, by pointer and by keyboard. */

import { announce, h } from '../dom.ts';
import type { Appearance } from './appearance.ts';
import { type Camera, type Captions, Painter, type Theme } from './draw.ts';
import { distanceTo } from './geometry.ts';
import { Layout } from './layout.ts';
import type { Scene, SceneEdge, SceneNode } from './scene.ts';
import { bounds, sceneSvg } from './svg.ts';

export type Picked = { readonly node: SceneNode } | { readonly edge: SceneEdge } | null;

export interface CanvasEvents {
  /** Something was selected; null for the background. */
  pick(picked: Picked): void;
  /** A node was double-clicked, or Enter was pressed on it. */
  open(node: SceneNode): void;
}

const [MIN_SCALE, MAX_SCALE] = [0.04, 4];
// The legend is above the picture, a note and the tools below it.
const [ROOM_ABOVE, ROOM_BELOW] = [40, 34];

export class GraphCanvas {
  readonly element = h('canvas', { class: 'graph-canvas', tabindex: 0, role: 'application', 'aria-roledescription': 'graph' });
  readonly camera: Camera = { x: 0, y: 0, scale: 1 };
  readonly painter: Painter;
  readonly layout: Layout;
  private selected = new Set<string>();
  private hovered: string | null = null;
  private dirty = true;
  private followsLayout = true;
  private theme: Theme;
  private width = 0;
  private height = 0;
  private running = false;
  private roomAbove = ROOM_ABOVE;
  private readonly resize = new ResizeObserver(() => this.measure());

  constructor(readonly scene: Scene, appearance: Appearance, readonly captions: Captions, private readonly events: CanvasEvents, spacing = 1) {
    this.painter = new Painter(scene, appearance, captions);
    scene.bendParallels();
    this.layout = new Layout(scene, (node) => this.painter.radius(node), (edge) => captions.edge(edge), spacing);
    this.layout.settle();
    this.theme = themeOf(document.documentElement);
    this.listen();
    this.describe();
  }

  /** Start drawing once the canvas is in the page; it stops by itself when removed. */
  start(): void {
    this.resize.observe(this.element);
    this.measure();
    if (this.running) return;
    this.running = true;
    requestAnimationFrame(() => this.frame());
  }

  stop(): void {
    this.running = false;
    this.resize.disconnect();
  }

  /** The scene has changed: lay it out again from where things are. */
  changed(warmth = 0.6): void {
    this.scene.bendParallels();
    this.layout.restart(warmth);
    this.describe();
    this.redraw();
  }

  redraw(): void {
    this.theme = themeOf(document.documentElement);
    this.dirty = true;
  }

  select(ids: Iterable<string>): void {
    this.selected = new Set(ids);
    this.dirty = true;
  }

  private describe(): void {
    const { nodes, edges } = this.scene;
    const keys = 'Arrow keys pan, plus and minus zoom, 0 fits, N and P go through the nodes, Enter opens, Delete hides.';
    this.element.setAttribute('aria-label', `Graph of ${nodes.size} nodes and ${edges.size} relationships. ${keys}`);
  }

  private measure(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.width = clientWidth;
    this.height = clientHeight;
    this.element.width = Math.round(clientWidth * ratio);
    this.element.height = Math.round(clientHeight * ratio);
    if (this.followsLayout) this.fit();
    this.dirty = true;
  }

  private frame(): void {
    if (!this.running) return;
    if (!this.element.isConnected) {
      this.stop();
      return;
    }
    if (this.layout.step()) {
      if (this.followsLayout) this.fit();
      this.dirty = true;
    }
    if (this.dirty && this.width > 0) {
      this.dirty = false;
      const context = this.element.getContext('2d', { alpha: false })!;
      this.painter.paint({ context, camera: this.camera, width: this.width, height: this.height, theme: this.theme, marks: { selected: this.selected, hovered: this.hovered } });
    }
    requestAnimationFrame(() => this.frame());
  }

  /** Something above the picture, such as a legend, has this height. */
  makeRoomAbove(height: number): void {
    this.roomAbove = Math.max(ROOM_ABOVE, height);
    if (this.followsLayout) this.fit();
  }

  fit(): void {
    const box = bounds(this.scene, 34);
    const above = this.roomAbove;
    const scale = Math.min(this.width / box.width, Math.max(80, this.height - above - ROOM_BELOW) / box.height, 1.25);
    this.camera.scale = Math.max(MIN_SCALE, scale);
    this.camera.x = -(box.x + box.width / 2) * this.camera.scale;
    this.camera.y = -(box.y + box.height / 2) * this.camera.scale + (above - ROOM_BELOW) / 2;
    this.dirty = true;
  }

  zoom(factor: number, at: { x: number; y: number } = { x: 0, y: 0 }): void {
    const scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, this.camera.scale * factor));
    const change = scale / this.camera.scale;
    this.camera.x = at.x - (at.x - this.camera.x) * change;
    this.camera.y = at.y - (at.y - this.camera.y) * change;
    this.camera.scale = scale;
    this.followsLayout = false;
    this.dirty = true;
  }

  private scenePoint(event: { clientX: number; clientY: number }): { x: number; y: number } {
    const box = this.element.getBoundingClientRect();
    const x = (event.clientX - box.left - this.width / 2 - this.camera.x) / this.camera.scale;
    const y = (event.clientY - box.top - this.height / 2 - this.camera.y) / this.camera.scale;
    return { x, y };
  }

  private at(event: { clientX: number; clientY: number }): Picked {
    const { x, y } = this.scenePoint(event);
    let found: SceneNode | null = null;
    for (const node of this.scene.nodes.values()) {
      if (Math.hypot(node.x - x, node.y - y) <= Math.max(this.painter.radius(node), 5 / this.camera.scale)) found = node;
    }
    if (found) return { node: found };
    for (const edge of this.scene.edges.values()) {
      const curve = this.painter.curve(edge);
      if (curve && distanceTo(curve, x, y) < 6 / this.camera.scale) return { edge };
    }
    return null;
  }

  private listen(): void {
    const { element } = this;
    element.addEventListener('pointerdown', (event) => this.press(event));
    element.addEventListener('pointermove', (event) => {
      if (event.buttons === 0) this.hover(event);
    });
    element.addEventListener('dblclick', (event) => {
      const picked = this.at(event);
      if (picked && 'node' in picked) this.events.open(picked.node);
    });
    element.addEventListener('wheel', (event) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const at = { x: event.clientX - box.left - this.width / 2, y: event.clientY - box.top - this.height / 2 };
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), at);
    }, { passive: false });
    element.addEventListener('keydown', (event) => this.key(event));
  }

  private hover(event: PointerEvent): void {
    const picked = this.at(event);
    const id = picked === null ? null : 'node' in picked ? picked.node.id : picked.edge.id;
    this.element.classList.toggle('pointing', id !== null);
    if (id === this.hovered) return;
    this.hovered = id;
    this.dirty = true;
  }

  private press(event: PointerEvent): void {
    const picked = this.at(event);
    const node = picked && 'node' in picked ? picked.node : null;
    let moved = false;
    let last = { x: event.clientX, y: event.clientY };
    this.element.setPointerCapture(event.pointerId);
    const move = (next: PointerEvent): void => {
      if (!moved && Math.hypot(next.clientX - event.clientX, next.clientY - event.clientY) < 4) return;
      moved = true;
      this.followsLayout = false;
      if (node) this.drag(node, next);
      else this.pan(next.clientX - last.x, next.clientY - last.y);
      last = { x: next.clientX, y: next.clientY };
    };
    const up = (): void => {
      this.element.removeEventListener('pointermove', move);
      this.element.removeEventListener('pointerup', up);
      this.element.removeEventListener('pointercancel', up);
      if (!moved) this.pick(picked);
    };
    this.element.addEventListener('pointermove', move);
    this.element.addEventListener('pointerup', up);
    this.element.addEventListener('pointercancel', up);
  }

  private pick(picked: Picked): void {
    this.select(picked === null ? [] : ['node' in picked ? picked.node.id : picked.edge.id]);
    this.events.pick(picked);
  }

  private drag(node: SceneNode, event: PointerEvent): void {
    const { x, y } = this.scenePoint(event);
    node.fx = node.x = x;
    node.fy = node.y = y;
    this.layout.warm();
    this.dirty = true;
  }

  private pan(dx: number, dy: number): void {
    this.camera.x += dx;
    this.camera.y += dy;
    this.followsLayout = false;
    this.dirty = true;
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps: Record<string, () => void> = {
      ArrowLeft: () => this.pan(60, 0), ArrowRight: () => this.pan(-60, 0), ArrowUp: () => this.pan(0, 60), ArrowDown: () => this.pan(0, -60),
      '+': () => this.zoom(1.25), '=': () => this.zoom(1.25), '-': () => this.zoom(0.8), '0': () => this.refit(),
      n: () => this.walk(1), p: () => this.walk(-1), Enter: () => this.open(), Delete: () => this.hide(), Escape: () => this.pick(null),
    };
    const step = steps[event.key] ?? steps[event.key.toLowerCase()];
    if (!step) return;
    event.preventDefault();
    step();
  }

  /** Fit, and keep fitting while the layout moves. */
  refit(): void {
    this.followsLayout = true;
    this.fit();
  }

  private chosen(): SceneNode | undefined {
    const [id] = this.selected;
    return id === undefined ? undefined : this.scene.nodes.get(id);
  }

  private walk(step: number): void {
    const nodes = [...this.scene.nodes.values()];
    if (nodes.length === 0) return;
    const current = this.chosen();
    const next = nodes[(current ? nodes.indexOf(current) + step + nodes.length : 0) % nodes.length]!;
    this.pick({ node: next });
    announce(`${next.labels.join(', ')} ${this.captions.node(next)}`);
  }

  private open(): void {
    const node = this.chosen();
    if (node) this.events.open(node);
  }

  hide(): void {
    const [id] = this.selected;
    if (id === undefined) return;
    if (this.scene.nodes.has(id)) this.scene.remove(id);
    else this.scene.edges.delete(id);
    this.pick(null);
    this.changed(0.2);
  }

  svg(): string {
    return sceneSvg(this.scene, this.painter, this.captions, this.theme);
  }

  /** The whole scene as an image, whatever part of it is on the screen. */
  png(): Promise<Blob> {
    const box = bounds(this.scene, 60);
    const scale = Math.min(2, 6000 / Math.max(box.width, box.height));
    const canvas = h('canvas', { width: Math.ceil(box.width * scale), height: Math.ceil(box.height * scale) });
    const camera = { x: -(box.x + box.width / 2) * scale, y: -(box.y + box.height / 2) * scale, scale };
    const context = canvas.getContext('2d', { alpha: false })!;
    this.painter.paint({ context, camera, width: canvas.width, height: canvas.height, theme: this.theme, marks: { selected: new Set(), hovered: null } });
    return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser could not make an image.')))));
  }
}

function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return { background: read('--canvas'), line: read('--edge'), lineText: read('--edge-text'), nodeText: '#1c1a18', accent: read('--accent'), font: 'system-ui, sans-serif' };
}
