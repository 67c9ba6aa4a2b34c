/**
 * Whose property is written at the cursor: the labels or types that the statement gives to a variable (`n.`), or that stand in
 * the same pattern (`(n:Person {`). The text is usually unfinished there, so that it is read without a parser.
 */

import { skipQuoted } from './statements.ts';

export interface KnownKeys {
  readonly labels: Readonly<Record<string, readonly string[]>>;
  readonly types: Readonly<Record<string, readonly string[]>>;
}

const NAME = '(?:[\\p{L}_][\\p{L}\\p{N}_]*|`(?:[^`]|``)+`)';
// What may follow a variable: labels or types with operators between them. What a negation leaves is not known.
const NAMES = `(?::|\\bIS\\b)\\s*${NAME}(?:\\s*[:&|]\\s*:?\\s*${NAME})*(?![\\p{L}\\p{N}_]|\\s*[:&|]\\s*[!%(])`;
// What may stand before a variable that labels follow. Elsewhere the colon is that of a map.
const NODE = '(?:\\(|\\b(?:WHERE|AND|OR|XOR|WHEN|SET|RETURN|WITH)\\b)\\s*';

/** The keys that fit at the end of `text`, or null if any may: the owner is not known, or it is not an entity. */
export function fittingKeys(text: string, whole: string, known: KnownKeys): ReadonlySet<string> | null {
  const before = withoutTexts(text);
  const owners = ownersInMap(before, withoutTexts(whole)) ?? ownersOfVariable(before, withoutTexts(whole));
  if (!owners) return null;
  const keys = owners.relationship ? known.types : known.labels;
  const lists = owners.names.map((name) => (Object.hasOwn(keys, name) ? keys[name] : undefined));
  // A name that the database does not have may be about to be created.
  return lists.length === 0 || lists.includes(undefined) ? null : new Set(lists.flatMap((list) => list ?? []));
}

interface Owners {
  readonly relationship: boolean;
  readonly names: readonly string[];
}

/** `(n:Person {name: 'x', ` or `[r:KNOWS {`: the cursor is where a key begins. */
function ownersInMap(before: string, whole: string): Owners | null {
  if (!new RegExp(`[{,]\\s*(?:${NAME})?$`, 'u').test(before)) return null;
  const open = openBrace(before);
  if (open < 0) return null;
  const pattern = new RegExp(`([(\\[])\\s*(${NAME})?\\s*(${NAMES})?\\s*(?:\\*[\\d.\\s]*)?$`, 'iu').exec(before.slice(0, open));
  if (!pattern) return null;
  const relationship = pattern[1] === '[';
  const names = [...namesIn(pattern[3] ?? ''), ...(pattern[2] ? namesGiven(pattern[2], whole, relationship) : [])];
  return { relationship, names };
}

/** `n.` or `n.na`. */
function ownersOfVariable(before: string, whole: string): Owners | null {
  const found = new RegExp(`(?<![.\\p{L}\\p{N}_\`$])(${NAME})\\s*\\.\\s*(?:${NAME})?$`, 'u').exec(before);
  if (!found) return null;
  for (const relationship of [false, true]) {
    const names = namesGiven(found[1]!, whole, relationship);
    if (names.length > 0) return { relationship, names };
  }
  return null;
}

/** What `(n:A)` and `n:A` say about a node, or `[r:T]` about a relationship; and what is said about the variable that it is an alias of. */
function namesGiven(variable: string, whole: string, relationship: boolean, passed: readonly string[] = []): string[] {
  const escaped = variable.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const given = new RegExp(`${relationship ? '\\[\\s*' : NODE}${escaped}\\s*(${NAMES})`, 'giu');
  const names = [...whole.matchAll(given)].flatMap((match) => namesIn(match[1]!));
  if (names.length > 0) return names;
  const alias = new RegExp(`(?<![\\p{L}\\p{N}_.\`$])(${NAME})\\s+AS\\s+${escaped}(?![\\p{L}\\p{N}_])`, 'iu').exec(whole);
  if (!alias || passed.includes(alias[1]!)) return [];
  return namesGiven(alias[1]!, whole, relationship, [...passed, variable]);
}

function namesIn(expression: string): string[] {
  const written = expression.replace(/^\s*(?::|IS\b)/iu, '').match(new RegExp(NAME, 'gu')) ?? [];
  return written.map((name) => (name.startsWith('`') ? name.slice(1, -1).replaceAll('``', '`') : name));
}

/** Where the map begins that the end of the text is in, or -1. */
function openBrace(text: string): number {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    if ('})]'.includes(text[at]!)) depth++;
    else if ('{(['.includes(text[at]!)) {
      if (depth === 0) return text[at] === '{' ? at : -1;
      depth--;
    }
  }
  return -1;
}

/** Strings and comments replaced by blanks, so that nothing in them is taken for Cypher. */
function withoutTexts(text: string): string {
  let written = '';
  let at = 0;
  while (at < text.length) {
    const past = skipQuoted(text, at);
    const kept = past === at || text[at] === '`';
    written += past === at ? text[at] : kept ? text.slice(at, past) : ' '.repeat(past - at);
    at = Math.max(past, at + 1);
  }
  return written;
}
