/** What a picture shows: nodes and relationships with their places, built up from answers. */

import type { Node, Path, Relationship } from 'neo4j-driver-lite';
import { kindOf } from '../values.ts';

export interface SceneNode {
  readonly id: string;
  readonly labels: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
  x: number;
  y: number;
  vx: number;
  vy: number;
  /** Where the user has put it; the forces do not move it. */
  fx?: number | null;
  fy?: number | null;
  index?: number;
}

export interface SceneEdge {
  readonly id: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly source: SceneNode;
  readonly target: SceneNode;
  /** How far the line bends to its left, so that parallel ones do not hide each other. */
  bend: number;
}

export class Scene {
  readonly nodes = new Map<string, SceneNode>();
  readonly edges = new Map<string, SceneEdge>();
  /** Ends of relationships whose nodes the answer did not contain. */
  readonly missing = new Set<string>();
  private readonly waiting = new Map<string, Relationship>();

  constructor(readonly maxNodes = 5000) {}

  /** Take in the nodes, relationships and paths anywhere in a value; true if something was left out for lack of room. */
  add(value: unknown): boolean {
    switch (kindOf(value)) {
      case 'node': return this.addNode(value as Node);
      case 'relationship': return this.addRelationship(value as Relationship);
      case 'path': return this.addPath(value as Path);
      case 'list': return (value as unknown[]).reduce<boolean>((left, inner) => this.add(inner) || left, false);
      case 'map': return Object.values(value as object).reduce<boolean>((left, inner) => this.add(inner) || left, false);
      default: return false;
    }
  }

  private addPath(path: Path): boolean {
    let left = this.addNode(path.start);
    for (const segment of path.segments) {
      left = this.addNode(segment.start) || left;
      left = this.addNode(segment.end) || left;
      left = this.addRelationship(segment.relationship) || left;
    }
    return left;
  }

  private addNode(node: Node): boolean {
    if (this.nodes.has(node.elementId)) return false;
    if (this.nodes.size >= this.maxNodes) return true;
    this.place({ id: node.elementId, labels: node.labels, properties: node.properties });
    this.missing.delete(node.elementId);
    for (const relationship of this.waiting.values()) this.addRelationship(relationship);
    return false;
  }

  /** Put a node where there is room: around the middle in a spiral, as d3 does, or next to `near`. */
  place(node: Pick<SceneNode, 'id' | 'labels' | 'properties'>, near?: SceneNode): SceneNode {
    const index = this.nodes.size;
    const radius = (near ? 40 : 14) * Math.sqrt(0.5 + (near ? index % 12 : index));
    const angle = index * Math.PI * (3 - Math.sqrt(5));
    const placed = { ...node, x: (near?.x ?? 0) + radius * Math.cos(angle), y: (near?.y ?? 0) + radius * Math.sin(angle), vx: 0, vy: 0 };
    this.nodes.set(node.id, placed);
    return placed;
  }

  private addRelationship(relationship: Relationship): boolean {
    const { elementId: id, type, properties, startNodeElementId, endNodeElementId } = relationship;
    if (this.edges.has(id)) return false;
    const source = this.nodes.get(startNodeElementId);
    const target = this.nodes.get(endNodeElementId);
    if (!source || !target) {
      if (!source) this.missing.add(startNodeElementId);
      if (!target) this.missing.add(endNodeElementId);
      this.waiting.set(id, relationship);
      return this.nodes.size >= this.maxNodes;
    }
    this.waiting.delete(id);
    this.connect({ id, type, properties, source, target });
    return false;
  }

  connect(edge: Omit<SceneEdge, 'bend'>): void {
    this.edges.set(edge.id, { ...edge, bend: 0 });
  }

  /** Move nodes that came with an expansion to where they came from. */
  gather(ids: Iterable<string>, near: SceneNode): void {
    let index = 0;
    for (const id of ids) {
      const node = this.nodes.get(id)!;
      const angle = index++ * 2.4;
      node.x = near.x + (50 + 4 * index) * Math.cos(angle);
      node.y = near.y + (50 + 4 * index) * Math.sin(angle);
    }
  }

  remove(id: string): void {
    this.nodes.delete(id);
    for (const edge of [...this.edges.values()]) if (edge.source.id === id || edge.target.id === id) this.edges.delete(edge.id);
  }

  /** Bend lines that join the same two nodes away from each other. */
  bendParallels(): void {
    const groups = new Map<string, SceneEdge[]>();
    for (const edge of this.edges.values()) {
      const key = edge.source.id < edge.target.id ? `${edge.source.id} ${edge.target.id}` : `${edge.target.id} ${edge.source.id}`;
      const group = groups.get(key);
      if (group) group.push(edge);
      else groups.set(key, [edge]);
    }
    for (const group of groups.values()) {
      const first = group[0]!.source;
      group.forEach((edge, index) => {
        const bend = (index - (group.length - 1) / 2) * 36;
        edge.bend = edge.source === edge.target ? 30 + 16 * index : edge.source === first ? bend : -bend;
      });
    }
  }
}
