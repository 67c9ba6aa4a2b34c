/** Values that came as JSON with their types in `$type`, as answers of models do, as values of the driver. */

import neo4j, { type Node, type Relationship } from 'neo4j-driver-lite';

type Tagged = Record<string, unknown>;

export function fromTagged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromTagged);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const map = value as Tagged;
  switch (map['$type']) {
    case undefined: return inner(map);
    case 'Node': return nodeOf(map);
    case 'Relationship': return relationshipOf(map);
    case 'Path': return pathOf(map);
    case 'Map': return inner(map['value'] as Tagged);
    default: return map['value'] ?? inner(map);
  }
}

function inner(map: Tagged): Tagged {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, fromTagged(value)]));
}

export function nodeOf(map: Tagged): Node {
  return new neo4j.types.Node(0n as never, map['labels'] as string[], inner(map['properties'] as Tagged), map['elementId'] as string);
}

export function relationshipOf(map: Tagged): Relationship {
  const { elementId, type, startNodeElementId, endNodeElementId, properties } = map as Record<string, string> & Tagged;
  return new neo4j.types.Relationship(0n as never, 0n as never, 0n as never, type!, inner(properties as unknown as Tagged), elementId!, startNodeElementId!, endNodeElementId!);
}

function pathOf(map: Tagged): unknown {
  const nodes = (map['nodes'] as Tagged[]).map(nodeOf);
  const segments = (map['relationships'] as Tagged[]).map((relationship, index) => new neo4j.types.PathSegment(nodes[index]!, relationshipOf(relationship), nodes[index + 1]!));
  return new neo4j.types.Path(nodes[0]!, nodes.at(-1)!, segments);
}
