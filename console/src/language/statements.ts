/** Taking a text of several statements apart at the semicolons that are not in strings, names or comments. */

export interface Statement {
  /** The statement without the white space around it and without its semicolon. */
  readonly text: string;
  /** Where `text` begins and ends in the whole. */
  readonly from: number;
  readonly to: number;
}

/** The end of what begins at `at` and hides semicolons (a string, a quoted name, a comment), or `at` if nothing does. */
export function skipQuoted(text: string, at: number): number {
  const start = text[at];
  const two = text.slice(at, at + 2);
  if (two === '//') {
    const end = text.indexOf('\n', at);
    return end < 0 ? text.length : end + 1;
  }
  if (two === '/*') {
    const end = text.indexOf('*/', at + 2);
    return end < 0 ? text.length : end + 2;
  }
  if (start !== "'" && start !== '"' && start !== '`') return at;
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\' && start !== '`') i++;
    else if (text[i] === start) return i + 1;
  }
  return text.length;
}

export function splitStatements(text: string): Statement[] {
  const statements: Statement[] = [];
  let begin = 0;
  let at = 0;
  while (at < text.length) {
    const past = skipQuoted(text, at);
    if (past > at) at = past;
    else if (text[at++] === ';') {
      add(statements, text, begin, at - 1);
      begin = at;
    }
  }
  add(statements, text, begin, text.length);
  return statements;
}

function add(statements: Statement[], text: string, begin: number, end: number): void {
  let from = begin;
  let to = end;
  while (from < to && /\s/.test(text[from]!)) from++;
  while (to > from && /\s/.test(text[to - 1]!)) to--;
  if (from < to && !isOnlyComments(text.slice(from, to))) statements.push({ text: text.slice(from, to), from, to });
}

function isOnlyComments(text: string): boolean {
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at]!)) at++;
    else if (text[at] === '/') {
      const past = skipQuoted(text, at);
      if (past === at) return false;
      at = past;
    } else return false;
  }
  return true;
}

/** The statement that the cursor is in, or the last one before it. */
export function statementAt(statements: readonly Statement[], offset: number): Statement | undefined {
  return statements.find((statement) => offset <= statement.to + 1) ?? statements.at(-1);
}

/** How a statement asks for its plan: EXPLAIN, PROFILE, or not at all. */
export function planMode(text: string): 'EXPLAIN' | 'PROFILE' | null {
  const found = /^\s*(?:cypher\b[^a-z]*(?:\d+\s*)?)?(explain|profile)\b/i.exec(text);
  return found ? (found[1]!.toUpperCase() as 'EXPLAIN' | 'PROFILE') : null;
}
