/** A query here and on a given Neo4j: rows and times side by side, with differences marked. */

import { Cancelled } from './connection.ts';
import { button, fill, h } from './dom.ts';
import { Editor } from './editor/editor.ts';
import { recall, remember } from './memory.ts';
import { problemOfError } from './problems.ts';
import { failurePanel } from './results/failure.ts';
import { TablePanel } from './results/table.ts';
import type { Services } from './services.ts';

interface Side {
  readonly columns: readonly string[];
  readonly rows: readonly string[][];
  readonly marks: readonly boolean[];
  readonly rowCount: bigint;
  readonly seconds: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const GOOD = new Set(['equal', 'both error']);

export class DiffView {
  readonly element = h('div', { class: 'diff-view' });
  private readonly editor: Editor;
  private readonly address = h('input', { type: 'text', value: recall('neo4j', 'bolt://localhost:7687'), 'aria-label': 'Address of the Neo4j', class: 'address' });
  private readonly user = h('input', { type: 'text', placeholder: 'user', 'aria-label': 'User', autocomplete: 'off' });
  private readonly password = h('input', { type: 'password', placeholder: 'password', 'aria-label': 'Password', autocomplete: 'off' });
  private readonly compareButton = button('Compare', { icon: 'run', class: 'primary', title: 'Compare (Ctrl+Enter)', onclick: () => void this.compare() });
  private readonly cancelButton = button('Cancel', { icon: 'stop', class: 'danger', onclick: () => this.aborter?.abort() });
  private readonly verdict = h('div', { class: 'verdict', role: 'status' });
  private readonly sides = h('div', { class: 'sides' });
  private aborter: AbortController | null = null;

  constructor(private readonly services: Services) {
    this.cancelButton.hidden = true;
    this.editor = new Editor({
      label: 'Cypher to compare', placeholder: 'MATCH (n) RETURN labels(n) AS labels, count(*) AS count ORDER BY count DESC', language: services.language,
      keys: [{ key: 'Mod-Enter', preventDefault: true, run: () => { void this.compare(); return true; } }],
    });
    this.editor.text = recall('diff', '');
    const bar = h('div', { class: 'toolbar' }, this.compareButton, this.cancelButton, h('span', { class: 'gap' }), h('span', { class: 'faint' }, 'with the Neo4j at'), this.address, this.user, this.password);
    fill(this.element, h('section', { class: 'editor-card', 'aria-label': 'Query' }, this.editor.element, bar), this.verdict, this.sides);
    fill(this.sides, h('p', { class: 'empty' }, 'The query runs on both sides in transactions that are rolled back; rows that the other side lacks are marked.'));
  }

  shown(): void {
    this.editor.focus();
  }

  private async compare(): Promise<void> {
    const query = this.editor.text.trim().replace(/;$/, '');
    if (query === '' || this.aborter) return;
    remember('diff', query);
    remember('neo4j', this.address.value);
    const options = this.user.value === '' ? {} : { user: this.user.value, password: this.password.value };
    this.aborter = new AbortController();
    this.setRunning(true);
    fill(this.verdict);
    fill(this.sides, h('p', { class: 'running' }, h('span', { class: 'spinner' }), 'Running on both sides…'));
    try {
      const { rows } = await this.services.connection.run('CALL hoplite.diff($query, $uri, $options) YIELD verdict, reason, similarity, hoplite, neo4j', { query, uri: this.address.value.trim(), options }, undefined, this.aborter.signal);
      this.draw(...(rows[0] as unknown as [string, string, number, Side, Side]));
    } catch (error) {
      fill(this.sides, error instanceof Cancelled ? h('p', { class: 'empty' }, 'Cancelled.') : failurePanel(problemOfError(error, query), query));
    } finally {
      this.aborter = null;
      this.setRunning(false);
    }
  }

  private setRunning(running: boolean): void {
    this.compareButton.disabled = running;
    this.cancelButton.hidden = !running;
  }

  private draw(verdict: string, reason: string, similarity: number | null, here: Side, there: Side): void {
    const kind = GOOD.has(verdict) ? 'good' : verdict === 'different' || verdict === 'one error' ? 'bad' : 'open';
    fill(this.verdict, h('strong', { class: kind }, verdict), reason !== '' && h('span', {}, reason),
      similarity !== null && h('span', { class: 'faint' }, `${(similarity * 100).toFixed(similarity === 1 ? 0 : 1)} % of the rows are the same`));
    fill(this.sides, side('Hoplite', here), side('Neo4j', there));
  }
}

function side(name: string, { columns, rows, marks, rowCount, seconds, error }: Side): HTMLElement {
  const alone = marks.filter(Boolean).length;
  const words = [`${Number(rowCount).toLocaleString('en')} row${rowCount === 1n ? '' : 's'}`, `${(seconds * 1000).toFixed(seconds < 0.01 ? 2 : 0)} ms`, alone > 0 ? `${alone} only here` : ''];
  const body = error !== null
    ? failurePanel({ severity: 'error', message: error.message, code: error.code, suggestions: [] }, '')
    : rows.length === 0 ? h('p', { class: 'empty' }, 'No rows.') : new TablePanel(columns, rows, (row) => (marks[row] ? 'only' : undefined)).element;
  return h('section', { class: 'panel', 'aria-label': name }, h('h2', {}, name, h('small', {}, words.filter(Boolean).join(' · '))), h('div', { class: 'panel-body' }, body));
}
