/** The page's side of the language worker: each request gets one answer. */

import type { DbSchema } from '@neo4j-cypher/language-support';
import type { KnownKeys } from './owners.ts';

export interface WordCompletion {
  readonly word: string;
  readonly insert: string;
  readonly kind: 'keyword' | 'label' | 'type' | 'property' | 'function' | 'procedure' | 'variable';
  readonly signature: string;
  readonly documentation: string;
}

export type Request =
  | { readonly kind: 'schema'; readonly schema: DbSchema; readonly known: KnownKeys }
  | { readonly kind: 'complete'; readonly text: string; readonly offset: number }
  | { readonly kind: 'format'; readonly text: string };

export interface Response {
  readonly id: number;
  readonly value: WordCompletion[] | string | null;
  readonly error?: string;
}

export class LanguageService {
  private readonly worker = new Worker('language.js', { type: 'module' });
  private readonly waiting = new Map<number, (response: Response) => void>();
  private next = 0;

  constructor() {
    this.worker.addEventListener('message', (event: MessageEvent<Response>) => {
      this.waiting.get(event.data.id)?.(event.data);
      this.waiting.delete(event.data.id);
    });
  }

  setSchema(schema: DbSchema, known: KnownKeys): void {
    void this.ask({ kind: 'schema', schema, known });
  }

  async complete(text: string, offset: number): Promise<WordCompletion[]> {
    const { value } = await this.ask({ kind: 'complete', text, offset });
    return Array.isArray(value) ? value : [];
  }

  /** The formatted text, or null if it cannot be parsed. */
  async format(text: string): Promise<string | null> {
    const { value } = await this.ask({ kind: 'format', text });
    return typeof value === 'string' ? value : null;
  }

  private ask(request: Request): Promise<Response> {
    const id = this.next++;
    this.worker.postMessage({ id, request });
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }
}
