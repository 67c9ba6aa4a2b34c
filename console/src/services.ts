/** What every part of the page may use. */

import type { Connection } from './connection.ts';
import type { Appearance } from './graph/appearance.ts';
import type { LanguageService } from './language/client.ts';
import type { Schema } from './schema.ts';

export interface Services {
  readonly connection: Connection;
  readonly appearance: Appearance;
  readonly language: LanguageService;
  /** The schema of the database, as last read. */
  schema: Schema;
  /** Put a query into the editor and run it. */
  run(query: string): void;
}
