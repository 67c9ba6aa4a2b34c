/** Rows as a table: sorted by any column, a page at a time. */

import { button, fill, h } from '../dom.ts';
import { compare, kindOf, toPlainText } from '../values.ts';

const PAGE = 100;
const CELL_CHARACTERS = 400;

export class TablePanel {
  readonly element = h('div', { class: 'table-panel' });
  private order: number[];
  private sortedBy = -1;
  private descending = false;
  private page = 0;

  constructor(private readonly keys: readonly string[], private readonly rows: readonly (readonly unknown[])[], private readonly mark?: (row: number) => string | undefined) {
    this.order = rows.map((_, index) => index);
    this.draw();
  }

  private sortBy(column: number): void {
    this.descending = this.sortedBy === column && !this.descending;
    this.sortedBy = column;
    const sign = this.descending ? -1 : 1;
    this.order = this.rows.map((_, index) => index).sort((left, right) => sign * compare(this.rows[left]![column], this.rows[right]![column]) || left - right);
    this.page = 0;
    this.draw();
    this.element.querySelectorAll<HTMLElement>('th button')[column]?.focus();
  }

  private draw(): void {
    const shown = this.order.slice(this.page * PAGE, (this.page + 1) * PAGE);
    const head = h('tr', {}, h('th', { class: 'number', scope: 'col' }, '#'), this.keys.map((key, column) => h(
      'th', { scope: 'col', 'aria-sort': this.sortedBy === column ? (this.descending ? 'descending' : 'ascending') : 'none' },
      h('button', { type: 'button', title: 'Sort', onclick: () => this.sortBy(column) }, key, h('span', { class: 'arrow', 'aria-hidden': 'true' }, this.sortedBy === column ? (this.descending ? '↓' : '↑') : '')),
    )));
    const body = shown.map((index) => h('tr', { class: this.mark?.(index) }, h('td', { class: 'number' }, index + 1), this.rows[index]!.map(cell)));
    fill(this.element,
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Rows' }, h('table', {}, h('thead', {}, head), h('tbody', {}, body))),
      this.rows.length > PAGE && this.pager());
  }

  private pager(): HTMLElement {
    const pages = Math.ceil(this.rows.length / PAGE);
    const go = (page: number): void => {
      this.page = Math.max(0, Math.min(pages - 1, page));
      this.draw();
    };
    const step = (words: string, page: number, possible: boolean): HTMLElement => {
      const element = button(words, { onclick: () => go(page) });
      element.disabled = !possible;
      return element;
    };
    return h('nav', { class: 'pager', 'aria-label': 'Pages' },
      step('First', 0, this.page > 0), step('Previous', this.page - 1, this.page > 0),
      h('span', {}, `${(this.page * PAGE + 1).toLocaleString('en')}–${Math.min(this.rows.length, (this.page + 1) * PAGE).toLocaleString('en')} of ${this.rows.length.toLocaleString('en')}`),
      step('Next', this.page + 1, this.page < pages - 1), step('Last', pages - 1, this.page < pages - 1));
  }
}

function cell(value: unknown): HTMLElement {
  const text = toPlainText(value);
  if (text.length <= CELL_CHARACTERS) return h('td', { class: kindOf(value) }, text);
  const element = h('td', { class: kindOf(value) }, `${text.slice(0, CELL_CHARACTERS)}… `);
  element.append(h('button', { type: 'button', class: 'more', onclick: () => { element.textContent = text; } }, 'more'));
  return element;
}
