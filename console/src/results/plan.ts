/** The plan of a statement as a tree: what each operator does, with rows, database hits and time if it was profiled. */

import { h } from '../dom.ts';
import { toPlainText } from '../values.ts';

export interface PlanNode {
  readonly operator: string;
  readonly details: string;
  readonly estimated?: number;
  readonly rows?: number;
  readonly hits?: number;
  /** Milliseconds. */
  readonly time?: number;
  readonly others: readonly (readonly [string, string])[];
  readonly children: readonly PlanNode[];
}

interface DriverPlan {
  readonly operatorType: string;
  readonly identifiers: readonly string[];
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly children: readonly DriverPlan[];
  readonly dbHits?: unknown;
  readonly rows?: unknown;
}

const SHOWN_ELSEWHERE = new Set(['Details', 'EstimatedRows', 'Rows', 'DbHits', 'Time', 'string-representation']);
const LEFT_OUT = new Set(['version', 'runtime', 'planner', 'runtime-version', 'planner-version', 'runtime-impl', 'planner-impl', 'batch-size', 'Id', 'PipelineInfo', 'PageCacheHits', 'PageCacheMisses', 'PageCacheHitRatio', 'GlobalMemory']);

/** The driver's plan, converted. */
export function readPlan(plan: DriverPlan): PlanNode {
  const { arguments: args } = plan;
  const number = (value: unknown): number | undefined => (value === undefined || value === null ? undefined : Number(value));
  const time = number(args['Time']);
  const profiled = args['Rows'] !== undefined || args['DbHits'] !== undefined;
  return {
    operator: plan.operatorType.replace(/@\S+$/, ''),
    details: toPlainText(args['Details'] ?? plan.identifiers.join(', ')),
    estimated: number(args['EstimatedRows']),
    rows: profiled ? number(args['Rows'] ?? plan.rows) : undefined,
    hits: profiled ? number(args['DbHits'] ?? plan.dbHits) : undefined,
    time: time === undefined ? undefined : time / 1e6,
    others: Object.entries(args).filter(([key, value]) => !SHOWN_ELSEWHERE.has(key) && !LEFT_OUT.has(key) && !(key === 'Memory' && Number(value) === 0)).map(([key, value]) => [key, toPlainText(value)] as const),
    children: plan.children.map(readPlan),
  };
}

export function planPanel(plan: DriverPlan): HTMLElement {
  const root = readPlan(plan);
  const most = Math.max(1, ...all(root).map((node) => node.rows ?? node.estimated ?? 0));
  const slowest = Math.max(...all(root).map((node) => node.time ?? 0));
  const about = ['planner', 'runtime', 'version'].filter((key) => plan.arguments[key] !== undefined).map((key) => `${key} ${toPlainText(plan.arguments[key])}`);
  const tree = h('ul', { class: 'plan', role: 'tree', 'aria-label': 'Plan' }, item(root, most, slowest));
  return h('div', { class: 'plan-panel', tabindex: 0 }, about.length > 0 && h('p', { class: 'faint' }, about.join(' · ')), tree);
}

function all(node: PlanNode): PlanNode[] {
  return [node, ...node.children.flatMap(all)];
}

function item(node: PlanNode, most: number, slowest: number): HTMLElement {
  const rows = node.rows ?? node.estimated;
  const facts = [
    node.rows !== undefined && fact('rows', node.rows.toLocaleString('en')),
    node.estimated !== undefined && fact('estimated', round(node.estimated)),
    node.hits !== undefined && fact('db hits', node.hits.toLocaleString('en')),
    node.time !== undefined && fact('time', `${round(node.time)} ms`, slowest > 0 && node.time === slowest ? 'slowest' : ''),
    ...node.others.map(([key, value]) => fact(key, value)),
  ];
  const bar = h('span', { class: 'bar', 'aria-hidden': 'true', '--share': rows === undefined ? 0 : Math.log1p(rows) / Math.log1p(most) });
  const box = h('div', { class: 'operator' }, h('strong', {}, node.operator), node.details !== '' && h('code', {}, node.details), h('div', { class: 'facts' }, facts), bar);
  const children = node.children.length > 0 && h('ul', { role: 'group' }, node.children.map((child) => item(child, most, slowest)));
  return h('li', { role: 'treeitem', 'aria-expanded': node.children.length > 0 ? 'true' : undefined }, box, children);
}

function fact(name: string, value: string, mark = ''): HTMLElement {
  return h('span', { class: `fact ${mark}` }, `${value} `, h('small', {}, name));
}

function round(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}
