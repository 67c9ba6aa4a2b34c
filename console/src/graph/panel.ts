/** The picture of an answer with its legend, its tools and details of the selection. */

import type { Node, Relationship } from 'neo4j-driver-lite';
import { announce, button, download, fill, h } from '../dom.ts';
import { kindOf, toPlainText } from '../values.ts';
import type { Services } from '../services.ts';
import { PALETTE } from './appearance.ts';
import { GraphCanvas, type Picked } from './canvas.ts';
import { Scene, type SceneEdge, type SceneNode } from './scene.ts';

const NEIGHBOURS = 50;
// Relationships between the nodes of an answer are looked up if there are not too many nodes.
const CONNECTED_NODES = 500;
const CONNECTING_EDGES = 3000;

const NODES_BY_ID = 'MATCH (n) WHERE elementId(n) IN $ids RETURN n';
const BETWEEN = `MATCH (a)-[r]->(b) WHERE elementId(a) IN $ids AND elementId(b) IN $ids RETURN r LIMIT ${CONNECTING_EDGES}`;
const EXPAND = 'MATCH (n)-[r]-(m) WHERE elementId(n) = $id AND NOT elementId(r) IN $known RETURN r, m LIMIT $limit';
const DEGREE = 'MATCH (n)-[r]-() WHERE elementId(n) = $id RETURN count(r) AS degree';

export class GraphPanel {
  readonly element = h('div', { class: 'graph-panel' });
  private readonly legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'Legend' });
  private readonly inspector = h('aside', { class: 'inspector', 'aria-label': 'Details' });
  private readonly note = h('p', { class: 'graph-note', role: 'status' });
  private readonly scene = new Scene();
  readonly canvas: GraphCanvas;
  private look: string | null = null;

  constructor(private readonly services: Services, rows: readonly (readonly unknown[])[]) {
    let left = false;
    for (const row of rows) for (const value of row) left = this.scene.add(value) || left;
    const { appearance } = services;
    this.canvas = new GraphCanvas(this.scene, appearance, {
      node: (node) => appearance.caption(node.labels, node.properties),
      edge: (edge) => edge.type,
    }, { pick: (picked) => this.inspect(picked), open: (node) => void this.expand(node) });
    const stage = h('div', { class: 'stage' }, this.canvas.element, this.legend, this.note, this.tools());
    fill(this.element, stage, this.inspector);
    new ResizeObserver(() => {
      // What one opens to change a colour lies over the picture.
      if (this.look === null) this.canvas.makeRoomAbove(this.legend.offsetTop + this.legend.offsetHeight);
    }).observe(this.legend);
    this.drawLegend();
    this.inspect(null);
    if (left) this.note.textContent = `Only the first ${this.scene.maxNodes.toLocaleString('en')} nodes are drawn.`;
    void this.complete();
  }

  /** Whether there is anything in these rows to draw. */
  static draws(rows: readonly (readonly unknown[])[]): boolean {
    const drawable = (value: unknown): boolean => {
      switch (kindOf(value)) {
        case 'node': case 'relationship': case 'path': return true;
        case 'list': return (value as unknown[]).some(drawable);
        case 'map': return Object.values(value as object).some(drawable);
        default: return false;
      }
    };
    return rows.slice(0, 1000).some((row) => row.some(drawable));
  }

  shown(): void {
    this.canvas.start();
  }

  private tools(): HTMLElement {
    return h('div', { class: 'graph-tools', role: 'toolbar', 'aria-label': 'Picture' },
      button('Zoom in', { icon: 'plus', iconOnly: true, onclick: () => this.canvas.zoom(1.3) }),
      button('Zoom out', { icon: 'minus', iconOnly: true, onclick: () => this.canvas.zoom(1 / 1.3) }),
      button('Fit to the window', { icon: 'fit', iconOnly: true, onclick: () => this.canvas.refit() }),
    );
  }

  /** Ends of relationships that the answer named only by their id, and relationships between its nodes. */
  private async complete(): Promise<void> {
    const { connection } = this.services;
    const missing = [...this.scene.missing];
    if (missing.length) {
      const { rows } = await connection.run(NODES_BY_ID, { ids: missing });
      for (const [node] of rows) this.scene.add(node);
    }
    const ids = [...this.scene.nodes.keys()];
    if (ids.length > 1 && ids.length <= CONNECTED_NODES) {
      const { rows } = await connection.run(BETWEEN, { ids });
      for (const [relationship] of rows) this.scene.add(relationship);
    }
    this.canvas.changed(0.8);
    if (ids.length <= CONNECTED_NODES) this.canvas.layout.settle();
    this.canvas.refit();
    this.drawLegend();
  }

  async expand(node: SceneNode): Promise<void> {
    const { connection } = this.services;
    const known = [...this.scene.edges.values()].filter((edge) => edge.source === node || edge.target === node).map((edge) => edge.id);
    const [found, degree] = await Promise.all([
      connection.run(EXPAND, { id: node.id, known, limit: BigInt(NEIGHBOURS) }),
      connection.run(DEGREE, { id: node.id }),
    ]);
    const before = new Set(this.scene.nodes.keys());
    for (const [relationship, neighbour] of found.rows as unknown as [Relationship, Node][]) {
      this.scene.add(neighbour);
      this.scene.add(relationship);
    }
    const fresh = [...this.scene.nodes.keys()].filter((id) => !before.has(id));
    this.scene.gather(fresh, node);
    const all = Number(degree.rows[0]?.[0] ?? 0);
    const shown = known.length + found.rows.length;
    const words = `${this.canvas.captions.node(node)}: ${shown < all ? `${shown} of ${all} relationships shown; expand again for more.` : `all ${all} relationships shown.`}`;
    this.note.textContent = words;
    announce(`${fresh.length} nodes added. ${words}`);
    this.canvas.changed(0.5);
    this.canvas.select([node.id]);
    this.drawLegend();
    this.inspect({ node });
  }

  private drawLegend(): void {
    const labels = new Map<string, number>();
    for (const node of this.scene.nodes.values()) {
      const label = this.services.appearance.deciding(node.labels);
      labels.set(label, (labels.get(label) ?? 0) + 1);
    }
    const entries = [...labels].sort((left, right) => right[1] - left[1]).map(([label, count]) => h(
      'button', {
        type: 'button', class: 'chip', '--chip': this.services.appearance.colour(label), title: 'Colour, size and caption',
        'aria-expanded': String(this.look === label), onclick: () => this.toggleLook(label),
      },
      h('span', { class: 'dot' }), h('span', {}, label || '(no label)'), h('span', { class: 'count' }, count.toLocaleString('en')),
    ));
    fill(this.legend, entries, this.look !== null && this.lookEditor(this.look));
  }

  private toggleLook(label: string): void {
    this.look = this.look === label ? null : label;
    this.drawLegend();
  }

  private setLook(label: string, look: { colour?: string; radius?: number; caption?: string }): void {
    this.services.appearance.setLook(label, look);
    this.canvas.redraw();
    this.drawLegend();
  }

  private lookEditor(label: string): HTMLElement {
    const { appearance } = this.services;
    const keys = new Set<string>();
    for (const node of this.scene.nodes.values()) if (appearance.deciding(node.labels) === label) for (const key of Object.keys(node.properties)) keys.add(key);
    const caption = h('select', { onchange: (event: Event) => this.setLook(label, { caption: (event.target as HTMLSelectElement).value }) },
      ...['', ...keys].map((key) => h('option', { value: key, selected: appearance.look(label).caption === key }, key === '' ? '(the label)' : key)));
    if (appearance.look(label).caption === undefined) caption.prepend(h('option', { value: 'name', selected: true }, '(chosen by itself)'));
    return h('div', { class: 'look' },
      h('div', { class: 'swatches', role: 'group', 'aria-label': `Colour of ${label}` }, PALETTE.map((colour, index) => h('button', {
        type: 'button', class: 'swatch', '--chip': colour, 'aria-label': `Colour ${index + 1}`, 'aria-pressed': String(appearance.colour(label) === colour),
        onclick: () => this.setLook(label, { colour }),
      }))),
      h('div', { class: 'sizes', role: 'group', 'aria-label': `Size of ${label}` }, [14, 20, 28, 36, 46].map((radius) => h('button', {
        type: 'button', class: 'size', 'aria-pressed': String(appearance.radius(label) === radius), 'aria-label': `Radius ${radius}`, '--size': `${radius / 2}px`,
        onclick: () => this.setLook(label, { radius }),
      }))),
      h('label', {}, 'Caption ', caption),
    );
  }

  private inspect(picked: Picked): void {
    if (picked === null) {
      const { nodes, edges } = this.scene;
      fill(this.inspector, h('h3', {}, 'Overview'), h('p', {}, `${nodes.size.toLocaleString('en')} nodes, ${edges.size.toLocaleString('en')} relationships`),
        h('p', { class: 'faint' }, 'Click a node for its properties, double-click to expand its neighbours, drag to move it.'));
    } else if ('node' in picked) this.inspectNode(picked.node);
    else this.inspectEdge(picked.edge);
  }

  private inspectNode(node: SceneNode): void {
    const { appearance } = this.services;
    fill(this.inspector,
      h('div', { class: 'labels' }, node.labels.map((label) => h('span', { class: 'chip still', '--chip': appearance.colour(label) }, label))),
      h('h3', {}, appearance.caption(node.labels, node.properties)),
      h('div', { class: 'actions' },
        button('Expand', { icon: 'expand', title: `Show up to ${NEIGHBOURS} neighbours`, onclick: () => void this.expand(node) }),
        button('Hide', { icon: 'hide', onclick: () => this.canvas.hide() }),
        typeof node.fx === 'number' && button('Unpin', { onclick: () => this.unpin(node) })),
      propertyList(node.properties), h('p', { class: 'faint id' }, node.id));
  }

  private unpin(node: SceneNode): void {
    node.fx = node.fy = null;
    this.canvas.changed(0.3);
    this.inspectNode(node);
  }

  private inspectEdge(edge: SceneEdge): void {
    const { captions } = this.canvas;
    fill(this.inspector, h('div', { class: 'labels' }, h('span', { class: 'type' }, edge.type)),
      h('p', {}, `${captions.node(edge.source)} → ${captions.node(edge.target)}`),
      h('div', { class: 'actions' }, button('Hide', { icon: 'hide', onclick: () => this.canvas.hide() })),
      propertyList(edge.properties), h('p', { class: 'faint id' }, edge.id));
  }

  async exportPng(): Promise<void> {
    download('graph.png', await this.canvas.png());
  }

  exportSvg(): void {
    download('graph.svg', this.canvas.svg(), 'image/svg+xml');
  }
}

function propertyList(properties: Readonly<Record<string, unknown>>): HTMLElement {
  const entries = Object.entries(properties);
  if (entries.length === 0) return h('p', { class: 'faint' }, 'No properties.');
  return h('dl', { class: 'properties' }, entries.flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, toPlainText(value))]));
}
