/** Cypher for CodeMirror: words are coloured as they are typed, without waiting for a parser. */

import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

// Words that begin or join clauses. Others that the grammar knows (name, type, value ...) are mostly names in queries.
const KEYWORDS = new Set(
  `access all alter and any as asc ascending assert by call case collect constraint constraints contains copy count create csv cypher database
   databases dbms default delete deny desc descending detach different distinct drop else end ends error exists explain fieldterminator filter
   finish for foreach from fulltext function functions grant group headers if in index indexes infinity inf insert is join let limit load lookup
   match merge nan next nodetach none not nothing null of offset on only optional options or order password point privileges procedure procedures
   profile range reduce remove rename repeatable replace report require return revoke rows scan seek set settings shortest shortestpath
   allshortestpaths show single skip starts terminate then to transaction transactions trim true false typed union unique unwind use using
   vector when where with xor yield`
    .split(/\s+/),
);
const ATOMS = new Set(['true', 'false', 'null', 'nan', 'inf', 'infinity']);

interface State {
  inComment: boolean;
  quote: string;
  /** What came before decides whether a word is a label, a type, a property or a variable. */
  after: '' | ':' | '.';
  brackets: string;
}

function token(stream: StringStream, state: State): string | null {
  if (state.inComment) return comment(stream, state);
  if (state.quote) return string(stream, state);
  if (stream.eatSpace()) return null;
  if (stream.match('//')) {
    stream.skipToEnd();
    return 'comment';
  }
  if (stream.match('/*')) {
    state.inComment = true;
    return comment(stream, state);
  }
  if (stream.match(/^\$(?:`[^`]*`|[\p{L}\p{N}_]+)/u)) return 'parameter';
  if (stream.match(/^(?:0x[\da-f_]+|0o[0-7_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:e[+-]?\d+)?)/i)) {
    state.after = '';
    return 'number';
  }
  const quote = stream.match(/^["']/) as RegExpMatchArray | null;
  if (quote) {
    state.quote = quote[0];
    return string(stream, state);
  }
  const word = stream.match(/^(?:`(?:[^`]|``)*`?|[\p{L}_][\p{L}\p{N}_]*)/u) as RegExpMatchArray | null;
  return word ? wordToken(word[0], stream, state) : operator(stream, state);
}

function wordToken(word: string, stream: StringStream, state: State): string {
  const { after } = state;
  state.after = '';
  if (after === ':') return state.brackets.endsWith('[') ? 'type' : state.brackets.endsWith('{') ? plainWord(word, stream) : 'label';
  if (after === '.') return /^\s*\(/.test(rest(stream)) ? 'function' : 'property';
  if (state.brackets.endsWith('{') && /^\s*:/.test(rest(stream))) return 'property';
  return plainWord(word, stream);
}

function plainWord(word: string, stream: StringStream): string {
  const lower = word.toLowerCase();
  if (ATOMS.has(lower)) return 'atom';
  if (/^(?:\s*\.\s*[\p{L}_`]+)*\s*\(/u.test(rest(stream)) && !BEFORE_BRACKETS.has(lower)) return 'function';
  return KEYWORDS.has(lower) && !/^\s*\./.test(rest(stream)) ? 'keyword' : 'variable';
}

// These are keywords even if a bracket follows.
const BEFORE_BRACKETS = new Set(
  'match merge create where and or xor not in with return unwind call as case when then else on optional delete set using foreach union exists count collect by is insert filter'.split(' '),
);

function operator(stream: StringStream, state: State): string {
  const character = stream.next()!;
  if ('([{'.includes(character)) state.brackets += character;
  if (')]}'.includes(character)) state.brackets = state.brackets.slice(0, -1);
  // A label expression continues after its operators: (:A|B), (:A&!B).
  const goesOn = state.after === '' && '|&!'.includes(character) && /[([]$/.test(state.brackets);
  state.after = character === ':' || goesOn ? ':' : character === '.' ? '.' : '';
  return '()[]{}'.includes(character) ? 'bracket' : 'operator';
}

function rest(stream: StringStream): string {
  return stream.string.slice(stream.pos);
}

function comment(stream: StringStream, state: State): string {
  if (stream.skipTo('*/')) {
    stream.match('*/');
    state.inComment = false;
  } else stream.skipToEnd();
  return 'comment';
}

function string(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    const character = stream.next();
    if (character === '\\') stream.next();
    else if (character === state.quote) {
      state.quote = '';
      break;
    }
  }
  return 'string';
}

export const cypher = StreamLanguage.define<State>({
  name: 'cypher',
  startState: () => ({ inComment: false, quote: '', after: '', brackets: '' }),
  copyState: (state) => ({ ...state }),
  token,
  languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } }, closeBrackets: { brackets: ['(', '[', '{', "'", '"', '`'] } },
  tokenTable: {
    label: tags.className, type: tags.typeName, property: tags.propertyName, function: tags.function(tags.variableName),
    parameter: tags.special(tags.variableName), variable: tags.variableName,
  },
});

export const colours = syntaxHighlighting(HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: tags.atom, color: 'var(--code-atom)' },
  { tag: tags.number, color: 'var(--code-atom)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: tags.className, color: 'var(--code-label)' },
  { tag: tags.typeName, color: 'var(--code-type)' },
  { tag: tags.propertyName, color: 'var(--code-property)' },
  { tag: tags.function(tags.variableName), color: 'var(--code-function)' },
  { tag: tags.special(tags.variableName), color: 'var(--code-parameter)' },
  { tag: tags.operator, color: 'var(--code-operator)' },
  { tag: tags.bracket, color: 'var(--code-operator)' },
]));
