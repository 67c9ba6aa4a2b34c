/** Forces that spread a scene out, a few steps for each frame. */

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type Simulation } from 'd3-force';
import type { Scene, SceneEdge, SceneNode } from './scene.ts';

// At 60 frames per second a frame has 16 ms; drawing needs its share.
const MILLISECONDS_PER_FRAME = 9;
const SETTLE_MILLISECONDS = 250;
// Pairs of a node and a line up to which nodes are kept off the lines of others.
const CLEARED = 400;
const CLEARANCE = 14;

export class Layout {
  private readonly simulation: Simulation<SceneNode, SceneEdge>;

  constructor(private readonly scene: Scene, private readonly radius: (node: SceneNode) => number, private readonly words: (edge: SceneEdge) => string, private readonly spacing = 1) {
    this.simulation = forceSimulation<SceneNode>([]).stop().velocityDecay(0.35);
    this.restart(1);
  }

  /** Update from the scene, and move again. */
  restart(warmth: number): void {
    const nodes = [...this.scene.nodes.values()];
    const edges = [...this.scene.edges.values()];
    const { spacing } = this;
    const strength = -(nodes.length > 600 ? 160 : 340) * spacing;
    this.simulation
      .nodes(nodes)
      .force('links', forceLink<SceneNode, SceneEdge>(edges).distance((edge) => this.radius(edge.source) + this.radius(edge.target) + (20 + 5 * Math.min(24, this.words(edge).length)) * spacing))
      .force('charge', forceManyBody<SceneNode>().strength(strength).theta(nodes.length > 600 ? 1.5 : 0.9).distanceMax(1200))
      .force('collide', nodes.length > 1000 ? null : forceCollide<SceneNode>((node) => this.radius(node) * spacing + 7))
      .force('clear', nodes.length * edges.length > CLEARED ? null : this.clearLines(edges))
      .force('x', forceX<SceneNode>(0).strength(0.035))
      .force('y', forceY<SceneNode>(0).strength(0.05))
      .alphaDecay(nodes.length > 600 ? 0.025 : 0.03)
      .alpha(warmth);
  }

  /** Pushes nodes off the lines between others: a line behind a node looks as if it ended there. */
  private clearLines(edges: readonly SceneEdge[]): (alpha: number) => void {
    return (alpha) => {
      for (const { source, target } of edges) {
        const [dx, dy] = [target.x - source.x, target.y - source.y];
        const squared = dx * dx + dy * dy;
        if (squared === 0) continue;
        for (const node of this.scene.nodes.values()) {
          if (node === source || node === target) continue;
          const along = ((node.x - source.x) * dx + (node.y - source.y) * dy) / squared;
          if (along <= 0 || along >= 1) continue;
          const across = ((node.x - source.x) * dy - (node.y - source.y) * dx) / Math.sqrt(squared);
          const missing = this.radius(node) + CLEARANCE - Math.abs(across);
          if (missing <= 0) continue;
          const push = ((Math.sign(across) || 1) * missing * Math.max(alpha, 0.15)) / (2 * Math.sqrt(squared));
          for (const [pushed, share] of [[node, 1], [source, -0.5], [target, -0.5]] as const) {
            pushed.vx = (pushed.vx ?? 0) + dy * push * share;
            pushed.vy = (pushed.vy ?? 0) - dx * push * share;
          }
        }
      }
    };
  }

  /** Let a small graph come to rest before it is first shown. */
  settle(): void {
    const until = performance.now() + SETTLE_MILLISECONDS;
    while (this.moving && performance.now() < until) this.simulation.tick();
  }

  get moving(): boolean {
    return this.simulation.alpha() > this.simulation.alphaMin();
  }

  /** Move a little; false once everything is at rest. */
  step(): boolean {
    if (!this.moving) return false;
    const until = performance.now() + MILLISECONDS_PER_FRAME / 2;
    do this.simulation.tick();
    while (this.moving && performance.now() < until);
    return true;
  }

  /** Keep warm while something is dragged. */
  warm(): void {
    this.simulation.alpha(Math.max(this.simulation.alpha(), 0.3));
  }
}
