/** Names and literals as Cypher writes them. */

/** A label, type, property or variable, in backticks if needed. */
export function quoteName(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : '`' + name.replaceAll('`', '``') + '`';
}

export function quoteString(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  return `'${escaped}'`;
}
