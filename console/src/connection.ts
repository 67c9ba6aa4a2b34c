/** The conversation with the database: the official driver, over a WebSocket to the server that the page came from. */

import neo4j, { type Driver, type Record as DriverRecord, type ResultSummary, type Session } from 'neo4j-driver-lite';

export interface Answer {
  readonly keys: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly summary: ResultSummary;
  /** There were more rows than requested. */
  readonly cut: boolean;
  /** Milliseconds from the request to the last row, as seen here. */
  readonly milliseconds: number;
}

export class Cancelled extends Error {
  override readonly name = 'Cancelled';
  constructor() {
    super('The statement was cancelled.');
  }
}

const EVERY_ROW = Number.POSITIVE_INFINITY;

export class Connection {
  private constructor(private readonly driver: Driver) {}

  /** Connect to the server of this page; without a name if the server does not require authentication. */
  static async open(user?: string, password?: string): Promise<Connection> {
    const scheme = location.protocol === 'https:' ? 'bolt+s' : 'bolt';
    const token = user === undefined ? undefined : neo4j.auth.basic(user, password ?? '');
    const driver = neo4j.driver(`${scheme}://${location.host}`, token as never, {
      useBigInt: true, userAgent: 'hoplite-console', fetchSize: 1000, connectionTimeout: 10_000, maxConnectionPoolSize: 16,
    });
    try {
      await driver.verifyConnectivity();
    } catch (error) {
      await driver.close();
      throw error;
    }
    return new Connection(driver);
  }

  /** Run one statement and read at most `limit` rows. Aborting `signal` resets the connection, which stops the statement. */
  async run(text: string, parameters: Record<string, unknown> = {}, limit = EVERY_ROW, signal?: AbortSignal): Promise<Answer> {
    const session = this.driver.session();
    if (!signal) return this.read(session, text, parameters, limit).finally(() => session.close());
    let stop = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(new Cancelled());
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
    });
    const answer = this.read(session, text, parameters, limit);
    // The loser of the race must not be reported as an unhandled error.
    answer.catch(() => undefined);
    try {
      return await Promise.race([answer, aborted]);
    } finally {
      signal.removeEventListener('abort', stop);
      void session.close().catch(() => undefined);
    }
  }

  private async read(session: Session, text: string, parameters: Record<string, unknown>, limit: number): Promise<Answer> {
    const begun = performance.now();
    const result = session.run(text, parameters);
    const keys = await result.keys();
    const rows: unknown[][] = [];
    let cut = false;
    for await (const record of result) {
      if (rows.length >= limit) {
        cut = true;
        break;
      }
      rows.push(valuesOf(record));
    }
    const summary = await result.summary();
    return { keys: keys as string[], rows, summary, cut, milliseconds: performance.now() - begun };
  }

  close(): Promise<void> {
    return this.driver.close();
  }
}

function valuesOf(record: DriverRecord): unknown[] {
  return record.keys.map((_, index) => record.get(index));
}

export function isUnauthorized(error: unknown): boolean {
  return error instanceof neo4j.Neo4jError && error.code.startsWith('Neo.ClientError.Security.');
}
