/** Values as the driver gives them: shown as text, as JSON, and sorted as Cypher sorts them. */

import neo4j, { type Node, type Path, type Relationship } from 'neo4j-driver-lite';
import { quoteName, quoteString } from './language/names.ts';

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'map' | 'node' | 'relationship' | 'path' | 'other';

export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  switch (typeof value) {
    case 'boolean': return 'boolean';
    case 'number': case 'bigint': return 'number';
    case 'string': return 'string';
    default:
  }
  if (Array.isArray(value)) return 'list';
  if (neo4j.isNode(value as object)) return 'node';
  if (neo4j.isRelationship(value as object)) return 'relationship';
  if (neo4j.isPath(value as object)) return 'path';
  return Object.getPrototypeOf(value) === Object.prototype ? 'map' : 'other';
}

/** A value as Cypher would write it. */
export function toText(value: unknown): string {
  switch (kindOf(value)) {
    case 'null': return 'null';
    case 'string': return quoteString(value as string);
    case 'number': return numberText(value as number | bigint);
    case 'list': return `[${(value as unknown[]).map(toText).join(', ')}]`;
    case 'map': return mapText(value as Record<string, unknown>);
    case 'node': return nodeText(value as Node);
    case 'relationship': return relationshipText(value as Relationship);
    case 'path': return pathText(value as Path);
    case 'other': return otherText(value);
    default: return String(value);
  }
}

/** Like `toText`, but with strings unquoted: for table cells, captions and CSV. */
export function toPlainText(value: unknown): string {
  return typeof value === 'string' ? value : toText(value);
}

function numberText(value: number | bigint): string {
  if (typeof value === 'bigint') return value.toString();
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${Object.is(value, -0) ? '-0' : value}.0` : String(value);
}

function mapText(map: Record<string, unknown>): string {
  return `{${Object.entries(map).map(([key, value]) => `${quoteName(key)}: ${toText(value)}`).join(', ')}}`;
}

function nodeText(node: Node): string {
  const labels = node.labels.map((label) => `:${quoteName(label)}`).join('');
  const properties = Object.keys(node.properties).length ? mapText(node.properties) : '';
  return `(${[labels, properties].filter(Boolean).join(' ')})`;
}

function relationshipText(relationship: Relationship): string {
  const properties = Object.keys(relationship.properties).length ? ` ${mapText(relationship.properties)}` : '';
  return `[:${quoteName(relationship.type)}${properties}]`;
}

function pathText(path: Path): string {
  let text = nodeText(path.start);
  let last = path.start.elementId;
  for (const { start, relationship, end } of path.segments) {
    const backwards = relationship.startNodeElementId !== last;
    text += `${backwards ? '<-' : '-'}${relationshipText(relationship)}${backwards ? '-' : '->'}`;
    const next = start.elementId === last ? end : start;
    text += nodeText(next);
    last = next.elementId;
  }
  return text;
}

function otherText(value: unknown): string {
  if (value instanceof Int8Array || value instanceof Uint8Array) return `bytes(${[...value].join(', ')})`;
  if (neo4j.isPoint(value as object)) {
    const { srid, x, y, z } = value as { srid: bigint; x: number; y: number; z?: number };
    return `point({srid: ${srid}, x: ${x}, y: ${y}${z === undefined ? '' : `, z: ${z}`}})`;
  }
  return String(value);
}

/** A value as JSON can hold it: nodes as objects, integers as they are, temporal and spatial values as text. */
export function toJson(value: unknown): unknown {
  switch (kindOf(value)) {
    case 'null': return null;
    case 'number': return typeof value === 'bigint' || Number.isFinite(value) ? value : String(value);
    case 'list': return (value as unknown[]).map(toJson);
    case 'map': return Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, toJson(inner)]));
    case 'node': return nodeJson(value as Node);
    case 'relationship': return relationshipJson(value as Relationship);
    case 'path': return pathJson(value as Path);
    case 'other': return otherText(value);
    default: return value;
  }
}

function nodeJson(node: Node): object {
  return { elementId: node.elementId, labels: node.labels, properties: toJson(node.properties) };
}

function relationshipJson(relationship: Relationship): object {
  const { elementId, type, startNodeElementId, endNodeElementId } = relationship;
  return { elementId, type, startNodeElementId, endNodeElementId, properties: toJson(relationship.properties) };
}

function pathJson(path: Path): object {
  const nodes = [path.start, ...path.segments.map((segment) => segment.end)];
  return { nodes: nodes.map(nodeJson), relationships: path.segments.map((segment) => relationshipJson(segment.relationship)) };
}

/** JSON text that keeps integers of any size, and floats as floats. */
export function jsonText(value: unknown, indent = 2, level = 0): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e21) return `${value}.0`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((inner) => jsonText(inner, indent, level + 1))
    : Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${jsonText(inner, indent, level + 1)}`);
  if (parts.length === 0) return `${open}${close}`;
  const line = `\n${' '.repeat(indent * (level + 1))}`;
  return `${open}${line}${parts.join(`,${line}`)}\n${' '.repeat(indent * level)}${close}`;
}

const ORDER: readonly Kind[] = ['map', 'node', 'relationship', 'list', 'path', 'other', 'string', 'boolean', 'number', 'null'];

/** Cypher's order of values: by type first, null last. */
export function compare(left: unknown, right: unknown): number {
  const kind = kindOf(left);
  const other = kindOf(right);
  if (kind !== other) return ORDER.indexOf(kind) - ORDER.indexOf(other);
  if (kind === 'number') return compareNumbers(left as number | bigint, right as number | bigint);
  if (kind === 'boolean') return Number(left) - Number(right);
  if (kind === 'list') return compareLists(left as unknown[], right as unknown[]);
  const [a, b] = kind === 'string' ? [left as string, right as string] : [toText(left), toText(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareLists(left: readonly unknown[], right: readonly unknown[]): number {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compare(left[i], right[i]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
