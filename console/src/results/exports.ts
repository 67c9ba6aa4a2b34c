/** Answers as files. */

import { jsonText, toJson, toPlainText } from '../values.ts';

type Rows = readonly (readonly unknown[])[];

/** RFC 4180, with a header; null is an empty field, an empty string a quoted one. */
export function csvText(keys: readonly string[], rows: Rows): string {
  const lines = [keys.map(field), ...rows.map((row) => row.map((value) => (value === null || value === undefined ? '' : field(toPlainText(value)))))];
  return lines.map((line) => line.join(',')).join('\r\n') + '\r\n';
}

function field(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function rowsJson(keys: readonly string[], rows: Rows): string {
  return jsonText(rows.map((row) => Object.fromEntries(row.map((value, index) => [keys[index]!, toJson(value)]))));
}
