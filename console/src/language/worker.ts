/** Neo4j's language support in its own thread: completion and formatting never delay typing. */

import { autocomplete, type DbSchema, formatQuery } from '@neo4j-cypher/language-support';
import type { Request, Response, WordCompletion } from './client.ts';

let schema: DbSchema = {};

const KINDS: Record<number, WordCompletion['kind']> = { 2: 'procedure', 3: 'function', 6: 'variable', 10: 'property', 14: 'keyword', 25: 'label' };

function complete(text: string, offset: number): WordCompletion[] {
  const seen = new Set<string>();
  const words: WordCompletion[] = [];
  for (const item of autocomplete(text, schema, { caretPosition: offset, consoleCommandsEnabled: false })) {
    if (seen.has(item.label)) continue;
    seen.add(item.label);
    const kind = KINDS[item.kind ?? 0] ?? 'keyword';
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
      schema = request.schema;
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
