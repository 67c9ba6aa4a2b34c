/** The schema as a graph: labels as nodes, types between them, with counts. A click starts a query. */

import { button, h } from '../dom.ts';
import { quoteName } from '../language/names.ts';
import type { Services } from '../services.ts';
import { GraphCanvas, type Picked } from './canvas.ts';
import { Scene, type SceneNode } from './scene.ts';

export class SchemaPanel {
  readonly element = h('div', { class: 'graph-panel' });
  readonly canvas: GraphCanvas;

  constructor(private readonly services: Services) {
    this.canvas = new GraphCanvas(
      schemaScene(services), services.appearance, { node: captionOf, edge: (edge) => `${edge.type} ${compact(edge.properties['count'])}` },
      { pick: (picked) => this.begin(picked), open: (node) => this.begin({ node }) }, 1.8,
    );
    const { nodes, relationships, labels } = services.schema;
    const words = labels.size === 0
      ? 'The database is empty. CREATE something, or LOAD CSV.'
      : `${nodes.toLocaleString('en')} nodes, ${relationships.toLocaleString('en')} relationships. Click a label or a type to look at some.`;
    const tools = h('div', { class: 'graph-tools', role: 'toolbar', 'aria-label': 'Picture' },
      button('Zoom in', { icon: 'plus', iconOnly: true, onclick: () => this.canvas.zoom(1.3) }),
      button('Zoom out', { icon: 'minus', iconOnly: true, onclick: () => this.canvas.zoom(1 / 1.3) }),
      button('Fit to the window', { icon: 'fit', iconOnly: true, onclick: () => this.canvas.refit() }));
    this.element.append(h('div', { class: 'stage' }, this.canvas.element, h('p', { class: 'graph-note' }, words), tools));
  }

  shown(): void {
    this.canvas.start();
  }

  private begin(picked: Picked): void {
    if (picked === null) return;
    if ('node' in picked) this.services.run(labelQuery(picked.node.id));
    else this.services.run(patternQuery(picked.edge.source.id, picked.edge.type, picked.edge.target.id));
  }
}

export function labelQuery(label: string): string {
  return `MATCH (n:${quoteName(label)})\nRETURN n\nLIMIT 25`;
}

export function typeQuery(type: string): string {
  return `MATCH p = ()-[:${quoteName(type)}]->()\nRETURN p\nLIMIT 25`;
}

function patternQuery(from: string, type: string, to: string): string {
  return `MATCH p = (:${quoteName(from)})-[:${quoteName(type)}]->(:${quoteName(to)})\nRETURN p\nLIMIT 25`;
}

function schemaScene({ schema }: Services): Scene {
  const scene = new Scene();
  for (const [label, count] of schema.labels) scene.place({ id: label, labels: [label], properties: { count } });
  for (const { from, type, to, count } of schema.patterns) {
    const source = scene.nodes.get(from);
    const target = scene.nodes.get(to);
    if (source && target) scene.connect({ id: `${from} ${type} ${to}`, type, properties: { count }, source, target });
  }
  return scene;
}

function captionOf(node: SceneNode): string {
  return `${node.id} ${compact(node.properties['count'])}`;
}

/** 1234567 as 1.2M. */
export function compact(count: unknown): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(Number(count));
}

