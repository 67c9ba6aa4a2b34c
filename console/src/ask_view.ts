/** A question in plain words: the model's query with its repairs, the rows, and a picture of the evidence for them. */

import { Cancelled } from './connection.ts';
import { button, fill, h } from './dom.ts';
import { GraphPanel } from './graph/panel.ts';
import { recall, remember } from './memory.ts';
import { problemOfError } from './problems.ts';
import { failurePanel } from './results/failure.ts';
import { TablePanel } from './results/table.ts';
import type { Services } from './services.ts';
import { fromTagged, nodeOf, relationshipOf } from './tagged.ts';

interface Asked {
  readonly cypher: string;
  readonly changes: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly unknown[][];
  readonly error: string | null;
  readonly evidence: { readonly nodes: Record<string, Record<string, unknown>>; readonly relationships: Record<string, Record<string, unknown>> };
  readonly attempts: readonly { readonly written: string; readonly query: string; readonly problem: string | null }[];
  readonly seconds: Record<string, number>;
}

const QUESTIONS = 20;

export class AskView {
  readonly element = h('div', { class: 'ask-view' });
  private readonly question = h('textarea', { rows: 3, id: 'question', placeholder: 'Which drugs treat migraine without causing weight gain?' });
  private readonly askButton = button('Ask', { icon: 'run', class: 'primary', onclick: () => void this.ask() });
  private readonly cancelButton = button('Cancel', { icon: 'stop', class: 'danger', onclick: () => this.aborter?.abort() });
  private readonly earlier = h('ul', { class: 'query-list' });
  private readonly written = h('div', { class: 'panel-body' });
  private readonly found = h('div', { class: 'panel-body' });
  private questions: string[] = recall<string[]>('questions', []);
  private aborter: AbortController | null = null;

  constructor(private readonly services: Services, model: string) {
    this.cancelButton.hidden = true;
    this.question.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey) return;
      event.preventDefault();
      void this.ask();
    });
    fill(this.element,
      panel('Question', h('div', { class: 'panel-body' }, h('label', { for: 'question', class: 'faint' }, `${model} writes the query; Enter asks.`), this.question,
        h('div', { class: 'toolbar' }, this.askButton, this.cancelButton), h('h3', {}, 'Earlier'), this.earlier)),
      panel('Cypher', this.written), panel('Answer', this.found));
    this.clear();
    this.drawEarlier();
  }

  shown(): void {
    this.question.focus();
  }

  private clear(): void {
    fill(this.written, h('p', { class: 'empty' }, 'The query, and what was repaired in it.'));
    fill(this.found, h('p', { class: 'empty' }, 'Rows, and the nodes and relationships that they rest on.'));
  }

  private drawEarlier(): void {
    fill(this.earlier, this.questions.map((question) => h('li', {}, h('button', { type: 'button', class: 'query', onclick: () => void this.ask(question) }, question))));
  }

  private async ask(question = this.question.value.trim()): Promise<void> {
    if (question === '' || this.aborter) return;
    this.question.value = question;
    this.questions = [question, ...this.questions.filter((other) => other !== question)].slice(0, QUESTIONS);
    remember('questions', this.questions);
    this.drawEarlier();
    this.aborter = new AbortController();
    this.askButton.disabled = true;
    this.cancelButton.hidden = false;
    fill(this.written, h('p', { class: 'running' }, h('span', { class: 'spinner' }), 'The model is writing…'));
    fill(this.found);
    try {
      const { keys, rows } = await this.services.connection.run('CALL hoplite.ask($question)', { question }, undefined, this.aborter.signal);
      this.draw(Object.fromEntries(keys.map((key, index) => [key, rows[0]![index]])) as unknown as Asked);
    } catch (error) {
      this.clear();
      if (!(error instanceof Cancelled)) fill(this.written, failurePanel(problemOfError(error, ''), ''));
    } finally {
      this.aborter = null;
      this.askButton.disabled = false;
      this.cancelButton.hidden = true;
    }
  }

  private draw(asked: Asked): void {
    const failed = asked.attempts.slice(0, -1);
    const times = Object.entries(asked.seconds).map(([stage, seconds]) => `${stage} ${seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`}`);
    fill(this.written,
      h('pre', { class: 'cypher' }, asked.cypher),
      button('Open in the editor', { icon: 'run', onclick: () => this.services.run(asked.cypher) }),
      h('h3', {}, 'Repaired'),
      asked.changes.length === 0 ? h('p', { class: 'faint' }, 'Nothing: the query ran as the model wrote it.') : h('ul', { class: 'changes' }, asked.changes.map((reason) => h('li', {}, reason))),
      asked.changes.length > 0 && h('details', {}, h('summary', {}, 'As the model wrote it'), h('pre', { class: 'cypher' }, asked.attempts.at(-1)?.written ?? '')),
      failed.length > 0 && h('details', {}, h('summary', {}, `${failed.length} earlier attempt${failed.length === 1 ? '' : 's'}`),
        failed.map((attempt) => h('div', {}, h('pre', { class: 'cypher' }, attempt.written), h('p', { class: 'faint' }, attempt.problem ?? '')))),
      h('p', { class: 'faint' }, times.join(' · ')));
    this.drawAnswer(asked);
  }

  private drawAnswer(asked: Asked): void {
    const rows = asked.rows.map((row) => row.map(fromTagged));
    const evidence = [...Object.values(asked.evidence.nodes).map(nodeOf), ...Object.values(asked.evidence.relationships).map(relationshipOf)];
    const drawn = evidence.length > 0 ? [evidence] : rows;
    const picture = GraphPanel.draws(drawn) ? new GraphPanel(this.services, drawn) : null;
    fill(this.found,
      asked.error !== null && h('p', { class: 'note warning' }, asked.error),
      rows.length === 0 ? h('p', { class: 'empty' }, 'No rows.') : h('div', { class: 'answer-rows' }, new TablePanel(asked.columns, rows).element),
      picture !== null && h('h3', {}, 'Evidence'), picture?.element);
    picture?.shown();
  }
}

function panel(title: string, body: HTMLElement): HTMLElement {
  return h('section', { class: 'panel', 'aria-label': title }, h('h2', {}, title), body);
}
