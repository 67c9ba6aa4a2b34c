/**
 * Parameters are written as a map of Cypher, so that they may be of any type: {since: date('2024-01-01'), ids: [1, 2]}.
 * The server evaluates the map; JSON is understood, too, since its keys become names here.
 */

import { skipQuoted } from './statements.ts';
import { quoteName } from './names.ts';

/** The statement that evaluates the parameters, or null if there are none. */
export function parametersStatement(text: string): string | null {
  const body = namesOfKeys(text).trim();
  if (body === '') return null;
  return `RETURN ${body.startsWith('{') ? body : `{${body}}`} AS parameters`;
}

/** A string before a colon is the key of a map in JSON, and a name in Cypher. */
function namesOfKeys(text: string): string {
  let written = '';
  let at = 0;
  while (at < text.length) {
    const past = skipQuoted(text, at);
    if (past === at) {
      written += text[at++];
      continue;
    }
    const quoted = text.slice(at, past);
    const isKey = (quoted[0] === '"' || quoted[0] === "'") && /^\s*:/.test(text.slice(past));
    written += isKey ? quoteName(quoted.slice(1, -1)) : quoted;
    at = past;
  }
  return written;
}

/** The names of the parameters that a query uses. */
export function usedParameters(query: string): string[] {
  const names = new Set<string>();
  let at = 0;
  while (at < query.length) {
    const found = query[at] === '$' ? /^\$(?:`((?:[^`]|``)+)`|([\p{L}\p{N}_]+))/u.exec(query.slice(at)) : null;
    if (found) {
      names.add(found[1]?.replaceAll('``', '`') ?? found[2]!);
      at += found[0].length;
      continue;
    }
    const past = skipQuoted(query, at);
    at = past > at ? past : at + 1;
  }
  return [...names];
}
