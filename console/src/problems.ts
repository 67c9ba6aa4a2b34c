/**
 * What is wrong with a statement, and where: from errors, notifications and checks of the server.
 * Places are counted in UTF-16 units on both sides.
 */

import type { ResultSummary } from 'neo4j-driver-lite';

export interface Problem {
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  /** Offsets in the statement; absent if the server gave no position. */
  readonly from?: number;
  readonly to?: number;
  readonly code?: string;
  /** Suggestions, the likeliest first: a replacement for the underlined text, or just advice. */
  readonly suggestions: readonly Suggestion[];
}

export interface Suggestion {
  readonly words: string;
  readonly replacement?: string;
}

/** A row of `hoplite.check`. */
export interface Checked {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly suggestions: readonly string[];
}

interface ServerError {
  readonly message: string;
  readonly code?: string;
  readonly diagnosticRecord?: Record<string, unknown>;
}

const POSITION = /\(line (\d+), column (\d+) \(offset: (\d+)\)\)/;

/** The problem that an error of the server reports; `prefix` characters were put before the statement. */
export function problemOfError(error: unknown, statement: string, prefix = 0): Problem {
  const { message = String(error), code, diagnosticRecord } = error as ServerError;
  const found = POSITION.exec(message);
  const position = diagnosticRecord?.['_position'] as { offset?: bigint | number } | undefined;
  const offset = found ? Number(found[3]) : position?.offset === undefined ? undefined : Number(position.offset);
  const range = offset === undefined || offset < 0 ? {} : rangeAt(statement, offset - prefix);
  return { severity: 'error', message: withoutSnippet(message), code, suggestions: suggestionsIn(message, diagnosticRecord), ...range };
}

/** Warnings and hints that came with an answer. */
export function problemsOfSummary(summary: ResultSummary, statement: string, prefix = 0): Problem[] {
  return summary.notifications.map((note) => {
    const offset = (note.position as { offset?: number } | undefined)?.offset;
    const range = offset === undefined || offset < prefix ? {} : rangeAt(statement, offset - prefix);
    const severity = note.severityLevel === 'WARNING' ? 'warning' : 'info';
    return { severity, message: note.description, code: note.code, suggestions: hintsOf(summary, note.description), ...range } as const;
  });
}

/** What a check found: an error if the statement cannot run (`error` is what running it says), else a warning. */
export function problemOfCheck(found: Checked, statement: string, error?: Problem): Problem {
  const range = found.end > found.start ? { from: found.start, to: found.end } : rangeAt(statement, found.start);
  const isError = error !== undefined && error.from === range.from;
  // A name or a word replaces the underlined text; other suggestions are only shown.
  const replaces = found.kind.startsWith('unknown') || (found.kind === 'syntax' && /^\w/.test(statement.slice(range.from, range.to)));
  return {
    severity: isError ? 'error' : 'warning',
    message: isError ? error.message : withoutSnippet(found.message),
    code: isError ? error.code : undefined,
    suggestions: found.suggestions.map((words) => ({ words: `Perhaps: ${words}`, replacement: replaces && /^[\w.`]+$/.test(words) ? words : undefined })),
    ...range,
  };
}

/** Hints of Hoplite travel in the diagnostic record of the status object that repeats the notification. */
function hintsOf(summary: ResultSummary, description: string): Suggestion[] {
  for (const status of summary.gqlStatusObjects ?? []) {
    const record = status.diagnosticRecord as unknown as Record<string, unknown>;
    const hints = record?.['_hints'];
    if (Array.isArray(hints) && hints.length && status.statusDescription && sharesName(status.statusDescription, description)) {
      return hints.map((words) => ({ words: String(words) }));
    }
  }
  return [];
}

function sharesName(left: string, right: string): boolean {
  const names = [...left.matchAll(/`([^`]+)`/g)].map((found) => found[1]!);
  return names.some((name) => right.includes(name));
}

function suggestionsIn(message: string, record: Record<string, unknown> | undefined): Suggestion[] {
  const hints = record?.['_hints'];
  if (Array.isArray(hints)) return hints.map((words) => ({ words: String(words) }));
  const found = /did you mean '?([^'?]+)'?\?/i.exec(message);
  return found ? [{ words: `Perhaps: ${found[1]}`, replacement: found[1] }] : [];
}

/** Neo4j repeats the line of the query with a caret below; here the editor shows where it is. */
function withoutSnippet(message: string): string {
  return message.replace(/\r?\n"[\s\S]*"\r?\n\s*\^\s*$/, '').replace(POSITION, '(line $1, column $2)').trim();
}

/** What to underline at an offset: the word there, or the character, or the last one at the end of the text. */
export function rangeAt(text: string, offset: number): { from: number; to: number } {
  const at = Math.max(0, Math.min(offset, text.length));
  if (at >= text.length) return { from: lastVisible(text), to: text.length };
  const quoted = /^`(?:[^`]|``)*`?/.exec(text.slice(at));
  const word = quoted ?? /^\$?[\p{L}\p{N}_]+/u.exec(text.slice(at));
  return { from: at, to: at + (word ? word[0].length : 1) };
}

function lastVisible(text: string): number {
  const trimmed = text.trimEnd();
  return Math.max(0, trimmed.length - 1);
}
