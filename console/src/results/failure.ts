/** An error for the reader: what, where in the text, and suggestions. */

import { h } from '../dom.ts';
import type { Problem } from '../problems.ts';

export interface FailureActions {
  /** Put the cursor where the problem is. */
  goTo?: (offset: number) => void;
  /** Replace what is wrong by `text`. */
  replace?: (from: number, to: number, text: string) => void;
}

export function failurePanel(problem: Problem, statement: string, actions: FailureActions = {}): HTMLElement {
  const { from, to } = problem;
  return h('div', { class: 'failure', role: 'alert' },
    h('h3', {}, titleOf(problem.code)),
    h('p', { class: 'message' }, problem.message),
    from !== undefined && to !== undefined && h('pre', { class: 'place' }, ...placed(statement, from, to)),
    suggested(problem, actions),
    h('p', { class: 'faint' }, problem.code ?? '', from !== undefined && actions.goTo !== undefined
      && h('button', { type: 'button', class: 'quiet', onclick: () => actions.goTo!(from) }, 'Show in the editor')));
}

/** Suggestions: applied with a click if possible, otherwise only shown. */
function suggested({ suggestions, from, to }: Problem, { replace }: FailureActions): (HTMLElement | null)[] {
  const replaces = from !== undefined && to !== undefined && replace !== undefined;
  const buttons = suggestions.flatMap(({ replacement }) => replaces && replacement !== undefined
    ? [h('button', { type: 'button', class: 'chip', onclick: () => replace(from, to, replacement) }, replacement)]
    : []);
  const words = suggestions.filter(({ replacement }) => !replaces || replacement === undefined).map((suggestion) => suggestion.words);
  return [
    buttons.length > 0 ? h('p', { class: 'suggestions' }, 'Perhaps ', ...buttons) : null,
    words.length > 0 ? h('p', { class: 'suggestions' }, words.join(' ')) : null,
  ];
}

/** Neo.ClientError.Statement.SyntaxError is shown as Syntax error. */
export function titleOf(code: string | undefined): string {
  const name = code?.split('.').at(-1);
  if (!name) return 'Error';
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words[0]!.toUpperCase() + words.slice(1);
}

/** The line of the statement with the position marked, and the line before it. */
function placed(statement: string, from: number, to: number): (Node | string)[] {
  const start = statement.lastIndexOf('\n', Math.max(0, statement.lastIndexOf('\n', from - 1) - 1)) + 1;
  const end = statement.indexOf('\n', to);
  return [statement.slice(start, from), h('mark', {}, statement.slice(from, to) || ' '), statement.slice(to, end < 0 ? undefined : end)];
}
