/** The view in which queries are written and run. */

import { type Answer, Cancelled } from './connection.ts';
import { button, fill, h } from './dom.ts';
import { Editor, type Marked } from './editor/editor.ts';
import { parametersStatement, usedParameters } from './language/parameters.ts';
import { planMode, splitStatements, type Statement } from './language/statements.ts';
import { recall, remember } from './memory.ts';
import { type Problem, problemOfError } from './problems.ts';
import { Queries } from './queries.ts';
import { repairOf } from './repair.ts';
import { type Frame, Results } from './results/results.ts';
import { Checker } from './checker.ts';
import type { Services } from './services.ts';
import { Sidebar } from './sidebar.ts';

const ROW_LIMITS = [100, 1000, 10_000, 100_000];

export class QueryView {
  readonly element = h('div', { class: 'query-view' });
  readonly editor: Editor;
  readonly results: Results;
  private readonly sidebar: Sidebar;
  private readonly queries = new Queries();
  private readonly parameters: HTMLTextAreaElement;
  private readonly parametersBox: HTMLElement;
  private readonly runButton: HTMLButtonElement;
  private readonly cancelButton: HTMLButtonElement;
  private readonly rowLimit: HTMLSelectElement;
  private readonly checker: Checker;
  private aborter: AbortController | null = null;

  constructor(private readonly services: Services, private readonly refreshSchema: () => Promise<void>) {
    this.checker = new Checker(services.connection);
    this.editor = new Editor({
      label: 'Cypher', placeholder: 'MATCH (n) RETURN n LIMIT 25', language: services.language,
      check: (statement) => this.checker.check(statement), onChange: (text) => this.edited(text), keys: this.keys(),
    });
    this.results = new Results(services);
    this.sidebar = new Sidebar(services, this.queries, (query) => this.edit(query), (text) => this.editor.insert(text));
    this.runButton = button('Run', { icon: 'run', class: 'primary', title: 'Run (Ctrl+Enter)', onclick: () => void this.run() });
    this.cancelButton = button('Cancel', { icon: 'stop', class: 'danger', title: 'Cancel (Ctrl+.)', onclick: () => this.cancel() });
    this.cancelButton.hidden = true;
    this.parameters = h('textarea', { rows: 2, spellcheck: 'false', 'aria-label': 'Parameters', placeholder: "{name: 'Aspirin', since: date('2024-01-01')}", oninput: () => remember('parameters', this.parameters.value) });
    this.parameters.value = recall('parameters', '');
    this.parametersBox = h('div', { class: 'parameters', hidden: this.parameters.value === '' }, h('label', {}, 'Parameters, as a map of Cypher or as JSON', this.parameters));
    const chosen = recall('rows', 1000);
    this.rowLimit = h('select', { 'aria-label': 'Rows to read at most', onchange: () => remember('rows', Number(this.rowLimit.value)) },
      ROW_LIMITS.map((limit) => h('option', { value: limit, selected: limit === chosen }, `${limit.toLocaleString('en')} rows`)));
    const card = h('section', { class: 'editor-card', 'aria-label': 'Editor' }, this.editor.element, this.parametersBox, this.toolbar());
    fill(this.element, this.sidebar.element, h('div', { class: 'work' }, card, this.results.element));
    this.editor.text = recall('text', '');
  }

  /** Call when the view is in the page. */
  shown(): void {
    this.results.resume();
    this.editor.focus();
  }

  schemaChanged(): void {
    this.sidebar.draw();
    this.results.redraw();
    this.checker.forget();
    this.editor.recheck();
  }

  private toolbar(): HTMLElement {
    return h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Query' },
      this.runButton, this.cancelButton,
      button('Explain', { icon: 'plan', title: 'Show the plan without running (Ctrl+Shift+E)', onclick: () => void this.run('EXPLAIN') }),
      button('Profile', { icon: 'plan', title: 'Run and show the plan with rows and times (Ctrl+Shift+P)', onclick: () => void this.run('PROFILE') }),
      h('span', { class: 'gap' }),
      button('Format', { icon: 'format', title: 'Lay the text out (Shift+Alt+F)', onclick: () => void this.format() }),
      button('Save', { icon: 'star', title: 'Save the query (Ctrl+S)', onclick: () => this.save() }),
      button('Parameters', { title: 'Show or hide the parameters', onclick: () => this.toggleParameters() }),
      this.rowLimit);
  }

  private keys(): { key: string; run: () => boolean; preventDefault: boolean }[] {
    const bind = (key: string, act: () => void): { key: string; run: () => boolean; preventDefault: boolean } => ({ key, preventDefault: true, run: () => { act(); return true; } });
    return [
      bind('Mod-Enter', () => void this.run()), bind('Shift-Mod-Enter', () => void this.run(null, this.editor.statement ?? undefined)),
      bind('Mod-.', () => this.cancel()), bind('Mod-s', () => this.save()), bind('Shift-Alt-f', () => void this.format()),
      bind('Shift-Mod-e', () => void this.run('EXPLAIN')), bind('Shift-Mod-p', () => void this.run('PROFILE')),
      bind('Mod-ArrowUp', () => this.step(1)), bind('Mod-ArrowDown', () => this.step(-1)),
    ];
  }

  private step(direction: 1 | -1): void {
    const query = this.queries.step(direction, this.editor.text);
    if (query !== null) this.editor.text = query;
  }

  private edited(text: string): void {
    remember('text', text);
    if (usedParameters(text).length > 0) this.parametersBox.hidden = false;
  }

  edit(query: string): void {
    this.editor.text = query;
    this.editor.focus();
  }

  private toggleParameters(): void {
    this.parametersBox.hidden = !this.parametersBox.hidden;
    if (!this.parametersBox.hidden) this.parameters.focus();
  }

  private async format(): Promise<void> {
    const text = await this.services.language.format(this.editor.text);
    if (text !== null && text !== '') this.editor.text = text;
    this.editor.focus();
  }

  private save(): void {
    const text = this.editor.text.trim();
    if (text === '') return;
    const dialog = h('dialog', { class: 'dialog', 'aria-label': 'Save the query' });
    const name = h('input', { type: 'text', value: text.replace(/\s+/g, ' ').slice(0, 50), 'aria-label': 'Name', required: true });
    const form = h('form', { method: 'dialog' }, h('h2', {}, 'Save the query'), h('label', {}, 'Name', name),
      h('div', { class: 'actions' }, button('Cancel', { onclick: () => dialog.close() }), h('button', { type: 'submit', class: 'primary' }, 'Save')));
    form.addEventListener('submit', () => {
      if (name.value.trim() !== '') this.queries.save(name.value.trim(), text);
    });
    dialog.addEventListener('close', () => dialog.remove());
    dialog.append(form);
    document.body.append(dialog);
    dialog.showModal();
    name.select();
  }

  cancel(): void {
    this.aborter?.abort();
  }

  /** Run the selection, or `only`, or everything; on request with EXPLAIN or PROFILE before each statement. */
  async run(mode: 'EXPLAIN' | 'PROFILE' | null = null, only?: Marked): Promise<void> {
    const { text, from: base } = only ?? this.editor.selection ?? { text: this.editor.text, from: 0 };
    const statements = splitStatements(text);
    if (statements.length === 0 || this.aborter) return;
    this.queries.ran(text.trim());
    const aborter = new AbortController();
    this.aborter = aborter;
    this.setRunning(true);
    const frames = statements.map((statement) => this.frame(statement, base, mode));
    this.results.begin(frames);
    let changed = false;
    try {
      const parameters = await this.evaluateParameters(frames[0]!);
      if (parameters) for (const frame of frames) if (!await this.runOne(frame, parameters, aborter.signal)) break;
      changed = frames.some(({ outcome }) => outcome.kind === 'answer' && (outcome.answer.summary.counters.containsUpdates() || outcome.answer.summary.counters.containsSystemUpdates()));
      for (const frame of frames) {
        if (frame.outcome.kind !== 'running') continue;
        frame.outcome = { kind: 'skipped' };
        this.results.update(frame);
      }
    } finally {
      this.aborter = null;
      this.setRunning(false);
    }
    if (changed) await this.refreshSchema();
  }

  private frame(statement: Statement, base: number, mode: 'EXPLAIN' | 'PROFILE' | null): Frame {
    const prefix = mode !== null && planMode(statement.text) === null ? `${mode} ` : '';
    const offset = base + statement.from - prefix.length;
    return {
      statement: prefix + statement.text,
      outcome: { kind: 'running' },
      actions: {
        goTo: (at) => this.editor.goTo(offset + at),
        replace: (from, to, text) => {
          const whole = this.editor.text;
          this.edit(whole.slice(0, offset + from) + text + whole.slice(offset + to));
        },
      },
    };
  }

  /** Parameters as values, or null if they are wrong, which the frame then reports. */
  private async evaluateParameters(frame: Frame): Promise<Record<string, unknown> | null> {
    const statement = parametersStatement(this.parameters.value);
    if (statement === null) return {};
    try {
      const { rows } = await this.services.connection.run(statement);
      return rows[0]![0] as Record<string, unknown>;
    } catch (error) {
      const problem = problemOfError(error, '');
      frame.outcome = { kind: 'failure', problem: { severity: 'error', code: problem.code, suggestions: [], message: `The parameters cannot be read: ${problem.message}` } };
      this.results.update(frame);
      return null;
    }
  }

  private async runOne(frame: Frame, parameters: Record<string, unknown>, signal: AbortSignal): Promise<boolean> {
    try {
      const answer = await this.services.connection.run(frame.statement, parameters, Number(this.rowLimit.value), signal);
      frame.outcome = { kind: 'answer', answer };
    } catch (error) {
      frame.outcome = error instanceof Cancelled ? { kind: 'cancelled' } : { kind: 'failure', problem: await this.explained(error, frame.statement) };
    }
    if (frame.outcome.kind === 'failure' || (frame.outcome.kind === 'answer' && foundNothing(frame.outcome.answer))) {
      frame.repair = await repairOf(this.services.connection, frame.statement, parameters);
    }
    this.results.update(frame);
    return frame.outcome.kind === 'answer';
  }

  /** An error with what the check of the same statement suggests. */
  private async explained(error: unknown, statement: string): Promise<Problem> {
    const problem = problemOfError(error, statement);
    const checked = await this.checker.check(statement);
    return checked.find(({ severity, from }) => severity === 'error' && from === problem.from) ?? problem;
  }

  private setRunning(running: boolean): void {
    this.runButton.disabled = running;
    this.cancelButton.hidden = !running;
  }
}

function foundNothing({ keys, rows, summary }: Answer): boolean {
  return keys.length > 0 && rows.length === 0 && !summary.plan && !summary.profile && !summary.counters.containsUpdates();
}
