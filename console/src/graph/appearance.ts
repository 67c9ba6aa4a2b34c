/** Colours, sizes and captions of labels: chosen here, changed by the user, kept in the browser. */

import { toPlainText } from '../values.ts';
import { recall, remember } from '../memory.ts';

/** Light enough for dark words, told apart by lightness as well as by hue. */
export const PALETTE: readonly string[] = [
  '#f2a97e', '#7fb8e0', '#a5cf88', '#e7c75f', '#c9a4e0', '#ef8fa0', '#79cbbd', '#d5b48f', '#9aa9ec', '#bcc6cf', '#e59ccb', '#c4d55f',
];
const NAMING = ['name', 'title', 'fullName', 'label', 'caption', 'displayName', 'username', 'firstName', 'code', 'id', 'identifier', 'uri', 'text'];

export interface Look {
  colour?: string;
  /** The property that names a node; '' for its label. */
  caption?: string;
  radius?: number;
}

export class Appearance {
  private readonly looks: Record<string, Look> = recall<Record<string, Look>>('looks', {});
  private readonly order = new Map<string, number>();

  /** The labels of the database, so that each keeps its colour whatever the answer contains. */
  setLabels(labels: Iterable<string>): void {
    this.order.clear();
    for (const label of labels) this.order.set(label, this.order.size);
  }

  /** The label that decides how a node looks: the rarest, which says most. */
  deciding(labels: readonly string[]): string {
    let best = labels[0] ?? '';
    if (labels.length < 2) return best;
    for (const label of labels) if ((this.order.get(label) ?? -1) > (this.order.get(best) ?? -1)) best = label;
    return best;
  }

  colour(label: string): string {
    const chosen = this.looks[label]?.colour;
    if (chosen) return chosen;
    if (!this.order.has(label)) this.order.set(label, this.order.size);
    return PALETTE[this.order.get(label)! % PALETTE.length]!;
  }

  radius(label: string): number {
    return this.looks[label]?.radius ?? 28;
  }

  look(label: string): Look {
    return this.looks[label] ?? {};
  }

  setLook(label: string, look: Look): void {
    this.looks[label] = { ...this.looks[label], ...look };
    remember('looks', this.looks);
  }

  /** The caption of a node: the chosen property, or the one that names it best. */
  caption(labels: readonly string[], properties: Readonly<Record<string, unknown>>): string {
    const label = this.deciding(labels);
    const chosen = this.looks[label]?.caption;
    if (chosen === '') return label;
    if (chosen !== undefined && properties[chosen] !== undefined) return toPlainText(properties[chosen]);
    for (const key of NAMING) if (properties[key] !== undefined && properties[key] !== null) return toPlainText(properties[key]);
    const text = Object.values(properties).find((value) => typeof value === 'string');
    return text === undefined ? label : String(text);
  }
}
