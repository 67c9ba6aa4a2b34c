/** The sidebar: the schema, the history, saved queries, and examples. */

import { button, fill, h, Tabs } from './dom.ts';
import { labelQuery, typeQuery } from './graph/schema_panel.ts';
import { quoteName } from './language/names.ts';
import type { Queries } from './queries.ts';
import { SAMPLES, samplesFit } from './samples.ts';
import type { Services } from './services.ts';

type Section = 'database' | 'queries';

export class Sidebar {
  readonly element = h('aside', { class: 'sidebar', 'aria-label': 'Database and queries' });
  private readonly body = h('div', { class: 'sidebar-body' });
  private readonly tabs = new Tabs<Section>('Side', [{ name: 'database', words: 'Database' }, { name: 'queries', words: 'Queries' }], () => this.draw());

  constructor(private readonly services: Services, private readonly queries: Queries, private readonly edit: (query: string) => void, private readonly insert: (text: string) => void) {
    fill(this.element, this.tabs.element, this.body);
    queries.onChange(() => this.draw());
    this.draw();
  }

  draw(): void {
    if (this.tabs.chosen === 'database') this.drawDatabase();
    else this.drawQueries();
  }

  private drawDatabase(): void {
    const { schema, appearance } = this.services;
    const chips = (names: ReadonlyMap<string, number>, query: (name: string) => string, colour?: (name: string) => string): HTMLElement[] =>
      [...names].map(([name, count]) => h('button', {
        type: 'button', class: colour ? 'chip' : 'chip type', '--chip': colour?.(name), title: `${name}: show some of ${count.toLocaleString('en')}`, onclick: () => this.services.run(query(name)),
      }, colour && h('span', { class: 'dot' }), h('span', {}, name), h('span', { class: 'count' }, count.toLocaleString('en'))));
    fill(this.body,
      samplesFit(schema) && section('Begin here', h('ul', { class: 'query-list' }, SAMPLES.map(({ title, query }) => h('li', {},
        h('button', { type: 'button', class: 'query sample', title: query, onclick: () => this.services.run(query) }, h('span', {}, title)))))),
      section(`Labels`, chips(schema.labels, labelQuery, (label) => appearance.colour(label))),
      section(`Relationship types`, chips(schema.types, typeQuery)),
      section('Property keys', schema.keys.map((key) => h('button', { type: 'button', class: 'chip key', title: 'Insert into the editor', onclick: () => this.insert(quoteName(key)) }, key))),
    );
  }

  private drawQueries(): void {
    const { saved, history } = this.queries;
    const entry = (query: string, title: string, remove: () => void, note = ''): HTMLElement => h('li', {},
      h('button', { type: 'button', class: 'query', title: query, onclick: () => this.edit(query) }, h('span', {}, title), note !== '' && h('small', {}, note)),
      button('Forget', { icon: 'trash', iconOnly: true, class: 'quiet small', onclick: remove }));
    fill(this.body,
      section('Saved', saved.length === 0
        ? h('p', { class: 'faint' }, 'Save a query with Ctrl+S, and it stays here.')
        : h('ul', { class: 'query-list' }, saved.map(({ name, query }) => entry(query, name, () => this.queries.forget(name))))),
      section('History', history.length === 0
        ? h('p', { class: 'faint' }, 'What you run is listed here.')
        : [h('ul', { class: 'query-list' }, history.map(({ query, at }) => entry(query, query.replace(/\s+/g, ' ').slice(0, 90), () => this.queries.forgetRun(query), new Date(at).toLocaleString()))),
          button('Forget all', { class: 'quiet small', onclick: () => this.queries.forgetRuns() })]),
    );
  }
}

function section(title: string, content: HTMLElement | HTMLElement[]): HTMLElement {
  return h('section', {}, h('h2', {}, title), content);
}
