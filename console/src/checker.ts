/** Checks statements with the server as they are typed: it plans them without running them, and checks their names. */

import type { Answer, Connection } from './connection.ts';
import { planMode } from './language/statements.ts';
import { type Checked, type Problem, problemOfCheck, problemOfError, problemsOfSummary } from './problems.ts';

const PREFIX = 'EXPLAIN ';
const KEPT = 50;

export class Checker {
  private readonly known = new Map<string, Promise<readonly Problem[]>>();

  constructor(private readonly connection: Connection) {}

  /** What is wrong with a statement; the same text is checked once. */
  check(statement: string): Promise<readonly Problem[]> {
    let found = this.known.get(statement);
    if (!found) {
      found = this.ask(statement);
      this.known.set(statement, found);
      if (this.known.size > KEPT) this.known.delete(this.known.keys().next().value!);
    }
    return found;
  }

  /** The graph has changed, and with it the known names. */
  forget(): void {
    this.known.clear();
  }

  private async ask(statement: string): Promise<readonly Problem[]> {
    const [planned, checked] = await Promise.all([this.plan(statement), this.names(statement)]);
    const error = planned.find(({ severity }) => severity === 'error');
    const found = checked.map((row) => problemOfCheck(row, statement, error));
    // The check says the same as the planner, with suggestions.
    return [...found, ...planned.filter((problem) => !found.some((other) => overlaps(problem, other)))];
  }

  /** Errors and notifications of planning the statement. */
  private async plan(statement: string): Promise<readonly Problem[]> {
    const mode = planMode(statement);
    const prefix = mode === null ? PREFIX : '';
    const text = mode === 'PROFILE' ? statement.replace(/profile/i, 'EXPLAIN') : prefix + statement;
    try {
      const { summary } = await this.connection.run(text);
      return problemsOfSummary(summary, statement, prefix.length);
    } catch (error) {
      const { code } = error as { code?: string };
      // A statement that lacks a parameter is judged when it is run.
      if (code === 'Neo.ClientError.Statement.ParameterMissing' || !code?.startsWith('Neo.')) return [];
      return [problemOfError(error, statement, prefix.length)];
    }
  }

  private async names(statement: string): Promise<readonly Checked[]> {
    const answer = await this.connection.run('CALL hoplite.check($statement)', { statement }).catch(() => null);
    return answer === null ? [] : answer.rows.map((row) => checkedRow(answer, row));
  }
}

function checkedRow({ keys }: Answer, row: readonly unknown[]): Checked {
  const { kind, start, end, message, suggestions } = Object.fromEntries(keys.map((key, index) => [key, row[index]]));
  return { kind: kind as string, start: Number(start), end: Number(end), message: message as string, suggestions: suggestions as string[] };
}

function overlaps(left: Problem, right: Problem): boolean {
  if (left.from === undefined || left.to === undefined || right.from === undefined || right.to === undefined) return false;
  return left.from < right.to && right.from < left.to;
}
