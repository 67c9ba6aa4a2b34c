/** What is in the database: labels, types and how they connect, with counts; properties; functions and procedures. */

import type { DbSchema } from '@neo4j-cypher/language-support';
import type { Connection } from './connection.ts';
import type { KnownKeys } from './language/owners.ts';

export interface Pattern {
  readonly from: string;
  readonly type: string;
  readonly to: string;
  readonly count: number;
}

export interface Schema {
  readonly labels: ReadonlyMap<string, number>;
  readonly types: ReadonlyMap<string, number>;
  readonly patterns: readonly Pattern[];
  readonly keys: readonly string[];
  /** The keys that nodes with a label, or relationships of a type, have. */
  readonly known: KnownKeys;
  readonly nodes: number;
  readonly relationships: number;
}

export const EMPTY: Schema = { labels: new Map(), types: new Map(), patterns: [], keys: [], known: { labels: {}, types: {} }, nodes: 0, relationships: 0 };
/** The schema before it is first read. */
export const UNSEEN: Schema = { ...EMPTY };

const COUNTS = 'MATCH (n) RETURN count(n) AS count UNION ALL MATCH ()-[r]->() RETURN count(r) AS count';

export async function loadSchema(connection: Connection): Promise<Schema> {
  const [counts, names] = await Promise.all([
    connection.run(COUNTS),
    connection.run('CALL hoplite.schema() YIELD labels, relationshipTypes, propertyKeys, connections, labelKeys, typeKeys'),
  ]);
  const [labels, types, keys, connections, labelKeys, typeKeys] = names.rows[0] as [Counts, Counts, string[], Connected[], Keys, Keys];
  const [nodes, relationships] = counts.rows.map((row) => Number(row[0]));
  return {
    labels: largestFirst(labels),
    types: largestFirst(types),
    patterns: connections.map(({ start, type, end, count }) => ({ from: start, type, to: end, count: Number(count) })),
    keys: [...keys].sort(),
    known: { labels: labelKeys, types: typeKeys },
    nodes: nodes ?? 0, relationships: relationships ?? 0,
  };
}

type Counts = Record<string, bigint>;
type Keys = Record<string, string[]>;
interface Connected { readonly start: string; readonly type: string; readonly end: string; readonly count: bigint }

export function largestFirst(counts: Counts): Map<string, number> {
  const found = Object.entries(counts).map(([name, count]) => [name, Number(count)] as const);
  return new Map(found.filter(([, count]) => count > 0).sort((left, right) => right[1] - left[1]));
}

/** The source of completions: names of this graph, and every function and procedure of the server. */
export async function languageSchema(connection: Connection, schema: Schema, parameters: Record<string, unknown>): Promise<DbSchema> {
  const [functions, procedures] = await Promise.all([
    connection.run('SHOW FUNCTIONS YIELD name, category, description, signature, isBuiltIn, aggregating, argumentDescription, returnDescription, isDeprecated'),
    connection.run('SHOW PROCEDURES YIELD name, description, signature, mode, admin, worksOnSystem, argumentDescription, returnDescription, isDeprecated'),
  ]);
  const byName = (answer: typeof functions): Record<string, never> =>
    Object.fromEntries(answer.rows.map((row) => [row[0] as string, Object.fromEntries(answer.keys.map((key, i) => [key, row[i]])) as never]));
  const procedureMap = byName(procedures) as Record<string, Record<string, unknown>>;
  for (const procedure of Object.values(procedureMap)) procedure['option'] = { deprecated: procedure['isDeprecated'] === true };
  return {
    labels: [...schema.labels.keys()],
    relationshipTypes: [...schema.types.keys()],
    propertyKeys: [...schema.keys],
    functions: { 'CYPHER 5': byName(functions) },
    procedures: { 'CYPHER 5': procedureMap as never },
    defaultLanguage: 'CYPHER 5',
    graphSchema: schema.patterns.map(({ from, type, to }) => ({ from, to, relType: type })),
    parameters,
  };
}
