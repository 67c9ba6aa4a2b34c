/** Queries that were run and queries that were saved, kept in the browser. */

import { recall, remember } from './memory.ts';

export interface Saved {
  readonly name: string;
  readonly query: string;
}

export interface Run {
  readonly query: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const HISTORY = 100;

export class Queries {
  saved: readonly Saved[] = recall<Saved[]>('saved', []);
  history: readonly Run[] = recall<Run[]>('history', []);
  /** The current place in the history; -1 is the present. */
  private place = -1;
  private present = '';
  private readonly listeners: (() => void)[] = [];

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    remember('saved', this.saved);
    remember('history', this.history);
    for (const listener of this.listeners) listener();
  }

  ran(query: string): void {
    this.place = -1;
    this.history = [{ query, at: Date.now() }, ...this.history.filter((run) => run.query !== query)].slice(0, HISTORY);
    this.changed();
  }

  save(name: string, query: string): void {
    this.saved = [...this.saved.filter((saved) => saved.name !== name), { name, query }].sort((left, right) => left.name.localeCompare(right.name));
    this.changed();
  }

  forget(name: string): void {
    this.saved = this.saved.filter((saved) => saved.name !== name);
    this.changed();
  }

  forgetRun(query: string): void {
    this.history = this.history.filter((run) => run.query !== query);
    this.changed();
  }

  forgetRuns(): void {
    this.history = [];
    this.changed();
  }

  /** One further back (1) or forward (-1) in the history from `text`, or null at its end. */
  step(direction: 1 | -1, text: string): string | null {
    if (this.place === -1) this.present = text;
    let next = this.place + direction;
    // An entry equal to the current text is skipped.
    if (this.place === -1 && this.history[next]?.query === text) next += direction;
    if (next >= this.history.length || next < -1) return null;
    this.place = next;
    return next === -1 ? this.present : this.history[next]!.query;
  }
}
