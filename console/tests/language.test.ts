import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quoteName, quoteString } from '../src/language/names.ts';
import { fittingKeys } from '../src/language/owners.ts';
import { parametersStatement, usedParameters } from '../src/language/parameters.ts';
import { planMode, splitStatements, statementAt } from '../src/language/statements.ts';

const texts = (text: string): string[] => splitStatements(text).map((statement) => statement.text);

test('statements end at semicolons outside of strings, names and comments', () => {
  assert.deepEqual(texts("RETURN ';' AS a; RETURN \"x\\\";\" ; MATCH (`a;b`) // ; \n RETURN 1 /* ; */;"), ["RETURN ';' AS a", 'RETURN "x\\";"', 'MATCH (`a;b`) // ; \n RETURN 1 /* ; */']);
});

test('comments alone and empty statements are not statements', () => {
  assert.deepEqual(texts(' ; // nothing\n ; /* still nothing */ '), []);
  assert.deepEqual(texts('// first\nRETURN 1'), ['// first\nRETURN 1']);
});

test('a string that is not closed reaches to the end', () => {
  assert.deepEqual(texts("RETURN 'a; RETURN 2"), ["RETURN 'a; RETURN 2"]);
});

test('offsets are those of the whole text', () => {
  const text = '  RETURN 1;\n RETURN 2 ';
  for (const { from, to, text: statement } of splitStatements(text)) assert.equal(text.slice(from, to), statement);
});

test('the statement at the cursor is the one that it is in, or the last', () => {
  const statements = splitStatements('RETURN 1; RETURN 2; ');
  assert.equal(statementAt(statements, 3)?.text, 'RETURN 1');
  assert.equal(statementAt(statements, 14)?.text, 'RETURN 2');
  assert.equal(statementAt(statements, 20)?.text, 'RETURN 2');
  assert.equal(statementAt([], 0), undefined);
});

test('a statement may ask for its plan', () => {
  assert.equal(planMode('explain MATCH (n) RETURN n'), 'EXPLAIN');
  assert.equal(planMode('CYPHER 5 PROFILE RETURN 1'), 'PROFILE');
  assert.equal(planMode('RETURN "explain"'), null);
  assert.equal(planMode('EXPLAINED'), null);
});

test('names are quoted where they must be', () => {
  assert.equal(quoteName('Drug'), 'Drug');
  assert.equal(quoteName('Größe_1'), 'Größe_1');
  assert.equal(quoteName('Side Effect'), '`Side Effect`');
  assert.equal(quoteName('a`b'), '`a``b`');
  assert.equal(quoteName('1st'), '`1st`');
  assert.equal(quoteString("it's\n\\"), "'it\\'s\\n\\\\'");
});

test('parameters may be a map of Cypher, its inside, or JSON', () => {
  assert.equal(parametersStatement('  '), null);
  assert.equal(parametersStatement('{a: date()}'), 'RETURN {a: date()} AS parameters');
  assert.equal(parametersStatement("a: 1, b: 'x: y'"), "RETURN {a: 1, b: 'x: y'} AS parameters");
  assert.equal(parametersStatement('{"a": 1, "first name": {"b": "c"}}'), 'RETURN {a: 1, `first name`: {b: "c"}} AS parameters');
});

test('parameters of a query are found outside of strings', () => {
  assert.deepEqual(usedParameters("RETURN $a, $`b c`, '$d' // $e\n, $a, $1"), ['a', 'b c', '1']);
});

const KNOWN = { labels: { Person: ['born', 'name'], Film: ['title'], 'Side Effect': ['grade'] }, types: { KNOWS: ['since'], ACTED_IN: ['roles'] } };

/** The keys that fit at the bar. */
function keysAt(marked: string): string[] | null {
  const at = marked.indexOf('|>');
  const found = fittingKeys(marked.slice(0, at), marked.replace('|>', ''), KNOWN);
  return found && [...found].sort();
}

test('keys in a pattern are those of its labels or types', () => {
  assert.deepEqual(keysAt('MATCH (n:Person {|>'), ['born', 'name']);
  assert.deepEqual(keysAt("MATCH (n:Person {name: 'a, {', b|>})"), ['born', 'name']);
  assert.deepEqual(keysAt('MATCH (:Person|Film {|>'), ['born', 'name', 'title']);
  assert.deepEqual(keysAt('MATCH (:`Side Effect` {|>'), ['grade']);
  assert.deepEqual(keysAt('MATCH (a)-[r:KNOWS {|>'), ['since']);
  assert.deepEqual(keysAt('MATCH (a)-[:KNOWS|ACTED_IN*1..2 {|>'), ['roles', 'since']);
  assert.deepEqual(keysAt('MATCH (n:Film) MATCH (n {|>'), ['title']);
});

test('keys after a variable are those of what the statement says it is', () => {
  assert.deepEqual(keysAt('MATCH (p:Person)-[k:KNOWS]->(f:Film) RETURN p.|>'), ['born', 'name']);
  assert.deepEqual(keysAt('MATCH (p:Person)-[k:KNOWS]->(f:Film) WHERE k.si|> > 1 RETURN p'), ['since']);
  assert.deepEqual(keysAt('MATCH (p:Person)-[k:KNOWS]->(f:Film) RETURN p.name, f.|>'), ['title']);
  assert.deepEqual(keysAt('MATCH (p) WHERE p:Film AND p.|>'), ['title']);
  assert.deepEqual(keysAt('MATCH (p IS Person) SET p.|>'), ['born', 'name']);
  assert.deepEqual(keysAt('MATCH (p:Person) WITH p AS q RETURN q.|>'), ['born', 'name']);
  assert.deepEqual(keysAt('RETURN n.|> // MATCH (n:Person)'), null);
});

test('any key may be written where the owner is not known', () => {
  for (const text of ['MATCH (n) RETURN n.|>', 'MATCH (n:New) RETURN n.|>', 'MATCH (n:!Person) RETURN n.|>', 'MATCH (n:Person|!Film) RETURN n.|>',
    'MATCH (n:Person) RETURN n.name.|>', 'RETURN {a|>', 'MATCH (n:Person) RETURN {a: 1, |>', 'WITH {n: Person} AS m RETURN n.|>', 'MATCH (n {|>',
    'MATCH (n:constructor) RETURN n.|>', 'WITH b AS a, a AS b RETURN a.|>', 'MATCH (n:Person {name: x|>', 'MATCH (n:Person) CALL { |>'])
    assert.equal(keysAt(text), null, text);
});
