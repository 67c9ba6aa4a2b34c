/** Neo4j's language support in its own thread: completion and formatting never delay typing. */

import { autocomplete, type DbSchema, formatQuery } from '@neo4j-cypher/language-support';
import type { Request, Response, WordCompletion } from './client.ts';
import { fittingKeys, type KnownKeys } from './owners.ts';
import { splitStatements, statementAt } from './statements.ts';

let schema: DbSchema = {};
let known: KnownKeys = { labels: {}, types: {} };

const KINDS: Record<number, WordCompletion['kind']> = { 2: 'procedure', 3: 'function', 6: 'variable', 10: 'property', 14: 'keyword', 25: 'label' };

function complete(text: string, offset: number): WordCompletion[] {
  const seen = new Set<string>();
  const words: WordCompletion[] = [];
  const statement = statementAt(splitStatements(text), offset) ?? { text, from: 0 };
  const fitting = fittingKeys(text.slice(statement.from, offset), statement.text, known);
  for (const item of autocomplete(text, schema, { caretPosition: offset, consoleCommandsEnabled: false })) {
    if (seen.has(item.label)) continue;
    seen.add(item.label);
    const kind = KINDS[item.kind ?? 0] ?? 'keyword';
    if (kind === 'property' && fitting && !fitting.has(item.label)) continue;
    const documentation = typeof item.documentation === 'string' ? item.documentation : '';
    words.push({ word: item.label, insert: item.insertText ?? item.label, kind: kind === 'label' ? labelOrType(item.label) : kind, signature: item.signature ?? '', documentation });
  }
  return words;
}

function labelOrType(name: string): 'label' | 'type' {
  return schema.labels?.includes(name) ? 'label' : 'type';
}

function answer(request: Request): Response['value'] {
  switch (request.kind) {
    case 'schema':
      ({ schema, known } = request);
      return null;
    case 'complete': return complete(request.text, request.offset);
    case 'format': return formatQuery(request.text).formattedQuery;
  }
}

addEventListener('message', (event: MessageEvent<{ id: number; request: Request }>) => {
  const { id, request } = event.data;
  let response: Response;
  try {
    response = { id, value: answer(request) };
  } catch (error) {
    response = { id, value: null, error: String(error) };
  }
  postMessage(response);
});
