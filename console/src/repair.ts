/** The likely meaning of a statement that failed or found nothing. */

import type { Connection } from './connection.ts';

export interface Repair {
  readonly query: string;
  readonly reasons: readonly string[];
}

/** What the server would change in a statement, or null if it is certain of nothing. */
export async function repairOf(connection: Connection, statement: string, parameters: Record<string, unknown>): Promise<Repair | null> {
  try {
    const { rows } = await connection.run('CALL hoplite.repair($statement, $parameters) YIELD query, changes', { statement, parameters });
    const [query, changes] = rows[0] as [string, { reason: string }[]];
    return query === statement ? null : { query, reasons: changes.map(({ reason }) => reason) };
  } catch {
    return null;
  }
}
