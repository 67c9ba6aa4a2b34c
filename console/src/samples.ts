/** Example queries for the sample graph (`hoplite ui --sample`). */

import type { Schema } from './schema.ts';

export const SAMPLES: readonly { readonly title: string; readonly query: string }[] = [
  { title: 'What treats migraine, and what does it cause?', query: "MATCH p = (:Disease {name: 'Migraine'})<-[:TREATS]-(:Drug)-[:CAUSES]->(:SideEffect)\nRETURN p" },
  { title: 'Drugs with the most side effects', query: 'MATCH (drug:Drug)-[:CAUSES]->(effect:SideEffect)\nRETURN drug.name AS drug, count(effect) AS effects, collect(effect.name) AS names\nORDER BY effects DESC\nLIMIT 15' },
  { title: 'Drugs that must not be taken together', query: "MATCH p = (:Drug)-[:INTERACTS_WITH {severity: 'contraindicated'}]->(:Drug)\nRETURN p\nLIMIT 60" },
  { title: 'From genes of asthma to drugs that target them', query: "MATCH p = (:Disease {name: 'Asthma'})<-[:ASSOCIATED_WITH]-(:Gene)<-[:TARGETS]-(:Drug)\nRETURN p" },
  { title: 'The shortest way between two diseases', query: "MATCH p = shortestPath((:Disease {name: 'Asthma'})-[*]-(:Disease {name: 'Migraine'}))\nRETURN p" },
  { title: 'The plan of a query, with rows and times', query: 'PROFILE\nMATCH (drug:Drug)-[:TREATS]->(disease:Disease)-[:HAS_SYMPTOM]->(symptom:Symptom)\nRETURN symptom.name, count(DISTINCT drug) AS drugs\nORDER BY drugs DESC\nLIMIT 10' },
];

/** Whether the database holds the sample graph. */
export function samplesFit(schema: Schema): boolean {
  return ['Drug', 'Disease', 'SideEffect', 'Gene', 'Symptom'].every((label) => schema.labels.has(label))
    && ['TREATS', 'CAUSES', 'INTERACTS_WITH', 'TARGETS'].every((type) => schema.types.has(type));
}
