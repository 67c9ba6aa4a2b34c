/** The lower half of the page: the schema at first, then the answers of the statements that were run, each in several forms. */

import type { ResultSummary } from 'neo4j-driver-lite';
import type { Answer } from '../connection.ts';
import { announce, button, download, fill, h, icon, Tabs } from '../dom.ts';
import { GraphPanel } from '../graph/panel.ts';
import { SchemaPanel } from '../graph/schema_panel.ts';
import { type Problem, problemsOfSummary } from '../problems.ts';
import type { Repair } from '../repair.ts';
import { UNSEEN } from '../schema.ts';
import type { Services } from '../services.ts';
import { csvText, rowsJson } from './exports.ts';
import { type FailureActions, failurePanel } from './failure.ts';
import { planPanel } from './plan.ts';
import { TablePanel } from './table.ts';

export type Outcome =
  | { readonly kind: 'running' }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failure'; readonly problem: Problem }
  | { readonly kind: 'cancelled' }
  /** One before it failed or was cancelled. */
  | { readonly kind: 'skipped' };

export interface Frame {
  readonly statement: string;
  readonly actions: FailureActions;
  outcome: Outcome;
  /** The likely meaning of a statement that failed or found nothing. */
  repair?: Repair | null;
}

type View = 'schema' | 'graph' | 'table' | 'json' | 'plan';
const JSON_ROWS = 2000;

export class Results {
  readonly element = h('section', { class: 'results', 'aria-label': 'Results' });
  private readonly body = h('div', { class: 'result-body' });
  private readonly status = h('p', { class: 'status', role: 'status' });
  private readonly notes = h('div', { class: 'notes' });
  private readonly statements = h('div', { class: 'statements', role: 'group', 'aria-label': 'Statements' });
  private readonly exports = h('div', { class: 'exports' });
  private readonly tabs = new Tabs<View>('Forms of the result', [
    { name: 'schema', words: 'Schema', icon: 'schema' }, { name: 'graph', words: 'Graph', icon: 'graph' }, { name: 'table', words: 'Table', icon: 'table' },
    { name: 'json', words: 'JSON', icon: 'json' }, { name: 'plan', words: 'Plan', icon: 'plan' },
  ], () => this.draw());
  private frames: Frame[] = [];
  private current = 0;
  private graph: GraphPanel | null = null;
  /** The picture that is in the page now. */
  private picture: GraphPanel | SchemaPanel | null = null;
  /** The form chosen last, used again if the next answer has it. */
  private preferred: View = 'graph';

  constructor(private readonly services: Services) {
    this.tabs.element.addEventListener('click', () => {
      if (this.tabs.chosen !== 'schema') this.preferred = this.tabs.chosen;
    });
    fill(this.element, h('div', { class: 'result-bar' }, this.tabs.element, this.status, this.exports), this.statements, this.notes, this.body);
    this.showSchema();
  }

  showSchema(): void {
    this.tabs.choose('schema');
  }

  /** Colours have changed, or the schema. */
  redraw(): void {
    this.graph?.canvas.redraw();
    if (this.tabs.chosen === 'schema') this.draw();
  }

  /** Show the statements of a run; their outcomes follow by `update`. */
  begin(frames: Frame[]): void {
    this.frames = frames;
    this.current = 0;
    this.choose(0);
  }

  update(frame: Frame): void {
    const index = this.frames.indexOf(frame);
    if (index < 0) return;
    if (frame.outcome.kind === 'skipped') this.drawStatements();
    else this.choose(index);
    announce(statusWords(frame.outcome));
  }

  private choose(index: number): void {
    this.current = index;
    this.graph = null;
    const { outcome } = this.frames[index]!;
    const forms = outcome.kind === 'answer' ? formsOf(outcome.answer) : [];
    this.tabs.choose(forms.includes(this.preferred) ? this.preferred : (forms[0] ?? 'table'));
  }

  private draw(): void {
    const frame = this.frames[this.current];
    const outcome = frame?.outcome;
    const forms = outcome?.kind === 'answer' ? formsOf(outcome.answer) : [];
    for (const view of ['graph', 'table', 'json', 'plan'] as const) this.tabs.show(view, forms.includes(view));
    this.drawStatements();
    fill(this.exports);
    fill(this.notes);
    this.status.textContent = outcome && this.tabs.chosen !== 'schema' ? statusWords(outcome) : '';
    if (this.tabs.chosen === 'schema' || !frame || !outcome) {
      if (this.services.schema === UNSEEN) fill(this.body, running('Looking at the database…'));
      else this.showPicture(new SchemaPanel(this.services));
    } else this.drawOutcome(frame, outcome);
  }

  private showPicture(picture: GraphPanel | SchemaPanel): void {
    this.picture = picture;
    fill(this.body, picture.element);
    picture.shown();
  }

  /** The view is in the page again: draw on. */
  resume(): void {
    if (this.picture?.element.isConnected) this.picture.shown();
  }

  private drawOutcome(frame: Frame, outcome: Outcome): void {
    switch (outcome.kind) {
      case 'running': return fill(this.body, running('Running…'));
      case 'cancelled': return fill(this.body, h('p', { class: 'empty' }, 'The statement was cancelled.'));
      case 'skipped': return fill(this.body, h('p', { class: 'empty' }, 'Not run, since the one before it did not end well.'));
      case 'failure': return fill(this.body, h('div', { class: 'failed' }, failurePanel(outcome.problem, frame.statement, frame.actions), this.repairOf(frame)));
      case 'answer': return this.drawAnswer(frame, outcome.answer);
    }
  }

  private drawAnswer(frame: Frame, answer: Answer): void {
    this.drawExports(answer);
    fill(this.notes, problemsOfSummary(answer.summary, frame.statement).map((problem) => noteOf(problem, frame.actions)));
    const view = this.tabs.chosen;
    if (view === 'graph') {
      this.graph ??= new GraphPanel(this.services, answer.rows);
      this.showPicture(this.graph);
    } else if (view === 'plan') fill(this.body, planPanel((answer.summary.profile || answer.summary.plan) as never));
    else if (view === 'json') fill(this.body, h('pre', { class: 'json', tabindex: 0 }, rowsJson(answer.keys, answer.rows.slice(0, JSON_ROWS)), answer.rows.length > JSON_ROWS ? `\n… ${answer.rows.length - JSON_ROWS} more rows are in the export.` : ''));
    else if (answer.keys.length === 0) fill(this.body, h('p', { class: 'empty' }, changeWords(answer.summary) || 'Done. The statement returns no rows.'));
    else if (answer.rows.length === 0) fill(this.body, h('p', { class: 'empty' }, 'No rows.'), this.repairOf(frame));
    else fill(this.body, new TablePanel(answer.keys, answer.rows).element);
  }

  private repairOf({ repair }: Frame): HTMLElement | null {
    if (!repair) return null;
    return h('section', { class: 'repair', 'aria-label': 'Repair' }, h('h3', {}, 'Perhaps this was meant'), h('pre', { class: 'cypher' }, repair.query),
      h('ul', { class: 'changes' }, repair.reasons.map((reason) => h('li', {}, reason))),
      button('Run this instead', { icon: 'run', class: 'primary', onclick: () => this.services.run(repair.query) }));
  }

  private drawExports(answer: Answer): void {
    if (answer.rows.length === 0) return;
    const { keys, rows } = answer;
    const picture = this.tabs.chosen === 'graph';
    const item = (words: string, act: () => void): HTMLElement => button(words, { class: 'quiet small', title: `Save as ${words}`, onclick: act });
    fill(this.exports, icon('export'), h('span', { class: 'unseen' }, 'Export'),
      item('CSV', () => download('rows.csv', csvText(keys, rows), 'text/csv')),
      item('JSON', () => download('rows.json', rowsJson(keys, rows), 'application/json')),
      picture && item('PNG', () => void this.graph?.exportPng()), picture && item('SVG', () => this.graph?.exportSvg()));
  }

  private drawStatements(): void {
    this.statements.hidden = this.frames.length < 2;
    fill(this.statements, this.frames.map((frame, index) => h('button', {
      type: 'button', class: `statement is-${frame.outcome.kind}`, 'aria-pressed': String(index === this.current), onclick: () => this.choose(index), title: frame.statement,
    }, h('span', { class: 'number' }, index + 1), h('code', {}, frame.statement.replace(/\s+/g, ' ').slice(0, 60)))));
  }
}

function running(words: string): HTMLElement {
  return h('p', { class: 'running' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), words);
}

function formsOf(answer: Answer): View[] {
  const { plan, profile } = answer.summary;
  const forms: View[] = [];
  if (plan || profile) forms.push('plan');
  if (GraphPanel.draws(answer.rows)) forms.push('graph');
  if (!plan || answer.rows.length > 0 || profile) forms.push('table', 'json');
  return profile ? [...forms.filter((form) => form !== 'plan'), 'plan'] : forms;
}

function noteOf(problem: Problem, actions: FailureActions): HTMLElement {
  const { from } = problem;
  return h('p', { class: `note ${problem.severity}` }, problem.message, ...problem.suggestions.map(({ words }) => h('em', {}, ` ${words}`)),
    from !== undefined && actions.goTo && button('Show', { class: 'quiet small', onclick: () => actions.goTo!(from) }));
}

function statusWords(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'running': return 'Running…';
    case 'cancelled': return 'Cancelled';
    case 'failure': return 'Failed';
    case 'skipped': return 'Not run';
    case 'answer': {
      const { rows, cut, milliseconds, summary } = outcome.answer;
      const count = `${cut ? 'first ' : ''}${rows.length.toLocaleString('en')} row${rows.length === 1 ? '' : 's'}`;
      return [count, changeWords(summary), `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds).toLocaleString('en')} ms`].filter(Boolean).join(' · ');
    }
  }
}

const COUNTERS: Record<string, readonly [string, string]> = {
  nodesCreated: ['node', 'created'], nodesDeleted: ['node', 'deleted'], relationshipsCreated: ['relationship', 'created'], relationshipsDeleted: ['relationship', 'deleted'],
  propertiesSet: ['property', 'set'], labelsAdded: ['label', 'added'], labelsRemoved: ['label', 'removed'], indexesAdded: ['index', 'added'], indexesRemoved: ['index', 'removed'],
  constraintsAdded: ['constraint', 'added'], constraintsRemoved: ['constraint', 'removed'],
};
const PLURALS: Record<string, string> = { property: 'properties', index: 'indexes' };

/** 2 nodes created, 1 property set */
export function changeWords(summary: Pick<ResultSummary, 'counters'>): string {
  return Object.entries(summary.counters.updates()).filter(([name, count]) => Number(count) > 0 && COUNTERS[name]).map(([name, count]) => {
    const [thing, verb] = COUNTERS[name]!;
    return `${Number(count).toLocaleString('en')} ${Number(count) === 1 ? thing : (PLURALS[thing] ?? `${thing}s`)} ${verb}`;
  }).join(', ');
}
