/** The page: connects, asks for a name and password if the server requires them, and shows the views. */

import { AskView } from './ask_view.ts';
import { Connection, isUnauthorized } from './connection.ts';
import { DiffView } from './diff_view.ts';
import { button, fill, h, Tabs } from './dom.ts';
import { Appearance } from './graph/appearance.ts';
import { LanguageService } from './language/client.ts';
import { recall, remember } from './memory.ts';
import { QueryView } from './query_view.ts';
import { EMPTY, languageSchema, loadSchema, UNSEEN } from './schema.ts';
import type { Services } from './services.ts';
import { SHORTCUTS } from './shortcuts.ts';

type View = 'query' | 'ask' | 'diff';
/** What `hoplite.server` says the server offers. */
interface Offer {
  readonly version: string;
  readonly readOnly: boolean;
  readonly model: string | null;
  readonly diff: boolean;
}

type ThemeName = 'auto' | 'light' | 'dark';

const app = document.getElementById('app')!;

class Page {
  private readonly services: Services;
  private readonly query: QueryView;
  private readonly main = h('main', { id: 'main', tabindex: -1 });
  private readonly server = h('span', { class: 'server' });
  private readonly tabs = new Tabs<View>('Views', [{ name: 'query', words: 'Query' }, { name: 'ask', words: 'Ask' }, { name: 'diff', words: 'Diff' }], () => this.show());
  private ask: AskView | null = null;
  private diff: DiffView | null = null;

  constructor(connection: Connection, private readonly offer: Offer) {
    this.services = { connection, appearance: new Appearance(), schema: UNSEEN, language: new LanguageService(), run: (query) => this.runQuery(query) };
    this.query = new QueryView(this.services, () => this.refresh());
    this.tabs.show('ask', offer.model !== null);
    this.tabs.show('diff', offer.diff);
    this.server.title = `Hoplite ${offer.version}`;
    fill(app, this.header(), this.main);
    this.show();
    void this.refresh();
  }

  private header(): HTMLElement {
    return h('header', { class: 'top' },
      h('a', { class: 'brand', href: './' }, h('img', { src: 'icon.svg', alt: '', width: 24, height: 24 }), 'Hoplite'),
      this.tabs.element, h('span', { class: 'gap' }), this.server,
      button('Light or dark', { icon: 'moon', iconOnly: true, onclick: () => this.nextTheme() }),
      button('Help', { icon: 'help', iconOnly: true, onclick: showHelp }));
  }

  private show(): void {
    const view = this.chosenView();
    fill(this.main, view.element);
    view.shown();
  }

  private chosenView(): QueryView | AskView | DiffView {
    switch (this.tabs.chosen) {
      case 'query': return this.query;
      case 'ask': return (this.ask ??= new AskView(this.services, this.offer.model ?? ''));
      case 'diff': return (this.diff ??= new DiffView(this.services));
    }
  }

  private runQuery(query: string): void {
    this.tabs.choose('query');
    this.query.edit(query);
    void this.query.run();
  }

  /** Numbers, and words for completion. */
  private async describe(): Promise<void> {
    const { schema, connection, language } = this.services;
    this.server.textContent = `${this.offer.readOnly ? 'read only · ' : ''}${schema.nodes.toLocaleString('en')} nodes · ${schema.relationships.toLocaleString('en')} relationships`;
    language.setSchema(await languageSchema(connection, schema, {}), schema.known);
  }

  /** Read the schema; a large database takes a while, during which the page is usable. Repeated after changes. */
  private async refresh(): Promise<void> {
    this.services.schema = await loadSchema(this.services.connection).catch(() => EMPTY);
    this.services.appearance.setLabels(this.services.schema.labels.keys());
    this.query.schemaChanged();
    await this.describe();
  }

  private nextTheme(): void {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const now = document.documentElement.dataset['theme'] ?? (dark ? 'dark' : 'light');
    setTheme(now === 'dark' ? 'light' : 'dark');
    this.query.results.redraw();
  }
}

function setTheme(theme: ThemeName): void {
  remember('theme', theme);
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

function showHelp(): void {
  const dialog = h('dialog', { class: 'dialog help', 'aria-label': 'Help' });
  const rows = SHORTCUTS.map(([keys, words]) => h('tr', {}, h('td', {}, h('kbd', {}, keys)), h('td', {}, words)));
  dialog.append(h('form', { method: 'dialog' }, h('h2', {}, 'Keys'), h('table', {}, h('tbody', {}, rows)),
    h('p', { class: 'faint' }, 'Everything on this page comes from this server. ', h('a', { href: 'licences.txt', target: '_blank' }, 'Licences of what it is built from')),
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Close'))));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Ask for credentials until the server accepts them. */
function signIn(words: string): Promise<Connection> {
  return new Promise((resolve) => {
    const user = h('input', { type: 'text', autocomplete: 'username', value: recall('user', 'neo4j') });
    const password = h('input', { type: 'password', autocomplete: 'current-password' });
    const error = h('p', { class: 'error', role: 'alert' }, words);
    const form = h('form', { class: 'sign-in' }, h('img', { src: 'icon.svg', alt: '', width: 48, height: 48 }), h('h1', {}, 'Hoplite'),
      h('label', {}, 'User', user), h('label', {}, 'Password', password), error, h('button', { type: 'submit', class: 'primary' }, 'Connect'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      error.textContent = 'Connecting…';
      Connection.open(user.value, password.value).then((connection) => {
        remember('user', user.value);
        resolve(connection);
      }, (reason: unknown) => { error.textContent = (reason as Error).message; });
    });
    fill(app, form);
    user.focus();
  });
}

async function connect(): Promise<Connection> {
  try {
    return await Connection.open();
  } catch (error) {
    if (isUnauthorized(error)) return signIn('');
    throw error;
  }
}

async function loadOffer(connection: Connection): Promise<Offer> {
  const { rows } = await connection.run('CALL hoplite.server() YIELD version, readOnly, model, diff');
  const [version, readOnly, model, diff] = rows[0] as [string, boolean, string | null, boolean];
  return { version, readOnly, model, diff };
}

async function begin(): Promise<void> {
  setTheme(recall<ThemeName>('theme', 'auto'));
  try {
    const connection = await connect();
    new Page(connection, await loadOffer(connection));
  } catch (error) {
    fill(app, h('div', { class: 'sign-in', role: 'alert' }, h('h1', {}, 'No connection'), h('p', {}, (error as Error).message),
      h('button', { type: 'button', class: 'primary', onclick: () => location.reload() }, 'Try again')));
  }
}

void begin();
