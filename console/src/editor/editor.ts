/** The editor: CodeMirror with Cypher, completion from this database, and problems reported by the server underlined. */

import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, type Completion, type CompletionContext, completionKeymap, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { type Diagnostic, forceLinting, linter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder, type KeyBinding } from '@codemirror/view';
import { h } from '../dom.ts';
import type { LanguageService, WordCompletion } from '../language/client.ts';
import { splitStatements, statementAt } from '../language/statements.ts';
import type { Problem } from '../problems.ts';
import { colours, cypher } from './highlight.ts';

export interface EditorOptions {
  readonly label: string;
  readonly placeholder: string;
  readonly language: LanguageService;
  /** What is wrong with one statement, with offsets in it. */
  readonly check?: (statement: string) => Promise<readonly Problem[]>;
  readonly keys: readonly KeyBinding[];
  readonly onChange?: (text: string) => void;
}

/** A part of the text, and where it begins. */
export interface Marked {
  readonly text: string;
  readonly from: number;
}

// Styles go in with the shadow root, as the page's policy allows no style elements.
const theme = EditorView.theme({
  '&': { fontSize: '14px', backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { fontFamily: 'var(--mono)', padding: '10px 0', caretColor: 'var(--text)', minHeight: '84px' },
  '.cm-scroller': { maxHeight: 'var(--editor-height, 34vh)', lineHeight: '1.55' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--faint)', border: 'none', paddingLeft: '6px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--line-tint)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)', borderLeftWidth: '2px' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection) !important' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection) !important', outline: '1px solid var(--border-strong)' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--border-strong)', borderRadius: '8px', boxShadow: 'var(--shadow)', overflow: 'hidden' },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '13px', maxHeight: '15em' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px 3px 6px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', fontSize: '12px' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionInfo': { padding: '8px 10px', maxWidth: '340px', fontFamily: 'var(--sans)', fontSize: '13px' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--error)', textUnderlineOffset: '3px', textDecorationSkipInk: 'none' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecoration: 'underline wavy var(--warning)', textUnderlineOffset: '3px', textDecorationSkipInk: 'none' },
  '.cm-lintRange-info': { backgroundImage: 'none', textDecoration: 'underline dotted var(--muted)', textUnderlineOffset: '3px' },
  '.cm-diagnostic': { padding: '6px 10px', fontFamily: 'var(--sans)', fontSize: '13px', maxWidth: '560px', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--error)' },
  '.cm-diagnostic-warning': { borderLeft: '4px solid var(--warning)' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)', borderRadius: '5px', padding: '2px 8px', marginTop: '4px' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)', borderColor: 'var(--border)' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', border: '1px solid var(--border-strong)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--raised)', border: '1px solid var(--border-strong)', borderRadius: '5px' },
  '.cm-placeholder': { color: 'var(--faint)' },
});

export class Editor {
  readonly element = h('div', { class: 'editor' });
  private readonly view: EditorView;

  constructor(private readonly options: EditorOptions) {
    const root = this.element.attachShadow({ mode: 'open' });
    this.view = new EditorView({ state: this.newState(''), parent: root, root });
    this.element.addEventListener('focus', () => this.view.focus());
  }

  private newState(text: string): EditorState {
    const { options } = this;
    return EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([...options.keys, { key: 'Tab', run: acceptCompletion }])),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap]),
        lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(),
        EditorView.lineWrapping, cypher, colours, theme, placeholder(options.placeholder),
        EditorView.contentAttributes.of({ 'aria-label': options.label, spellcheck: 'false', autocapitalize: 'off' }),
        autocompletion({ override: [(context) => this.complete(context)], icons: true, maxRenderedOptions: 80 }),
        linter(() => this.lint(), { delay: 350 }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange?.(this.text);
        }),
      ],
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: text.length }, scrollIntoView: true });
  }

  /** The selected text, unless it is only white space. */
  get selection(): Marked | null {
    const { from, to } = this.view.state.selection.main;
    const text = this.view.state.sliceDoc(from, to);
    return text.trim() === '' ? null : { text, from };
  }

  /** The statement that the cursor is in. */
  get statement(): Marked | null {
    return statementAt(splitStatements(this.text), this.view.state.selection.main.head) ?? null;
  }

  insert(text: string): void {
    this.view.dispatch(this.view.state.replaceSelection(text));
    this.focus();
  }

  focus(): void {
    this.view.focus();
  }

  /** Put the cursor at an offset and show it. */
  goTo(offset: number): void {
    this.view.dispatch({ selection: { anchor: Math.min(offset, this.text.length) }, scrollIntoView: true });
    this.focus();
  }

  /** Look at the text again, for instance after the graph has changed. */
  recheck(): void {
    forceLinting(this.view);
  }

  private async complete(context: CompletionContext): Promise<CompletionResult | null> {
    const word = context.matchBefore(/[\p{L}\p{N}_.$`]*/u);
    const before = context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos);
    if (!context.explicit && (!word || word.from === word.to) && !/[:.$]/.test(before)) return null;
    const words = await this.options.language.complete(this.text, context.pos);
    if (words.length === 0) return null;
    const typed = word?.text ?? '';
    const dotted = typed.lastIndexOf('.') + 1;
    // Functions and procedures are completed with their dots, properties after the dot.
    const whole = words.some(({ word }) => word.includes('.') && word.toLowerCase().startsWith(typed.toLowerCase()));
    const dollar = typed.startsWith('$') && !words.some(({ word, insert }) => word === insert && word.startsWith('$')) ? 1 : 0;
    const from = (word?.from ?? context.pos) + (whole ? 0 : Math.max(dotted, dollar));
    return { from, options: words.map(completion), validFor: /^[\p{L}\p{N}_.$]*$/u };
  }

  private async lint(): Promise<Diagnostic[]> {
    const { check } = this.options;
    if (!check) return [];
    const text = this.text;
    const found = await Promise.all(splitStatements(text).map(async (statement) => {
      const problems = await check(statement.text);
      return problems.map((problem) => diagnostic(problem, statement.from, statement.to));
    }));
    // What was typed meanwhile will be checked in turn.
    return text === this.text ? found.flat() : [];
  }
}

const BOOST: Record<WordCompletion['kind'], number> = { label: 5, type: 5, property: 5, variable: 4, function: 1, procedure: 1, keyword: 0 };
const CM_TYPES: Record<WordCompletion['kind'], string> = {
  label: 'class', type: 'type', property: 'property', variable: 'variable', function: 'function', procedure: 'method', keyword: 'keyword',
};

function completion({ word, insert, kind, signature, documentation }: WordCompletion): Completion {
  return {
    label: word, apply: insert === word ? undefined : insert, type: CM_TYPES[kind], detail: kind === 'keyword' ? undefined : kind, boost: BOOST[kind],
    info: signature || documentation ? () => h('div', {}, h('code', {}, signature), documentation && h('p', {}, documentation)) : undefined,
  };
}

function diagnostic(problem: Problem, start: number, end: number): Diagnostic {
  const from = Math.min(start + (problem.from ?? 0), end);
  const to = Math.min(Math.max(start + (problem.to ?? end - start), from + 1), Math.max(end, from + 1));
  const words = problem.suggestions.filter(({ replacement }) => replacement === undefined).map((suggestion) => suggestion.words);
  return {
    from, to, severity: problem.severity, message: [problem.message, ...words].join('\n'),
    actions: problem.suggestions.flatMap(({ replacement }) => replacement === undefined ? [] : [{
      name: replacement, apply: (view: EditorView, at: number, past: number) => view.dispatch({ changes: { from: at, to: past, insert: replacement } }),
    }]),
  };
}
