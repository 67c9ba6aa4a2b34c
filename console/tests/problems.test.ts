import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOfCheck, problemOfError, problemsOfSummary, rangeAt } from '../src/problems.ts';
import { titleOf } from '../src/results/failure.ts';

const SYNTAX = 'Neo.ClientError.Statement.SyntaxError';
const query = 'MATCH (n:Drug)\nRETRUN n';
const error = { code: SYNTAX, message: `Invalid input 'RETRUN': expected 'RETURN' (line 2, column 1 (offset: 23))\n"RETRUN n"\n ^` };

test('the place of an error is found in its message, without what was put before the statement', () => {
  const problem = problemOfError(error, query, 'EXPLAIN '.length);
  assert.deepEqual([problem.from, problem.to], [15, 21]);
  assert.equal(problem.message, "Invalid input 'RETRUN': expected 'RETURN' (line 2, column 1)");
});

test('or in its diagnostic record, with hints', () => {
  const problem = problemOfError({ code: SYNTAX, message: 'No.', diagnosticRecord: { _position: { offset: 15n }, _hints: ['Perhaps: RETURN.'] } }, query);
  assert.equal(query.slice(problem.from, problem.to), 'RETRUN');
  assert.deepEqual(problem.suggestions, [{ words: 'Perhaps: RETURN.' }]);
});

test('an error without a place has none', () => {
  assert.equal(problemOfError(new Error('The server is gone.'), query).from, undefined);
});

test('what a check found takes the words of the error at the same place, and offers its suggestions', () => {
  const found = { kind: 'syntax', start: 15, end: 21, message: 'Invalid', suggestions: ['RETURN'] };
  const problem = problemOfCheck(found, query, problemOfError(error, query, 8));
  assert.equal(problem.severity, 'error');
  assert.equal(problem.code, SYNTAX);
  assert.deepEqual(problem.suggestions, [{ words: 'Perhaps: RETURN', replacement: 'RETURN' }]);
});

test('names that the graph does not have are warnings', () => {
  const problem = problemOfCheck({ kind: 'unknown label', start: 9, end: 13, message: 'No node has the label Drgu.', suggestions: ['Drug', 'Side Effect'] }, query);
  assert.equal(problem.severity, 'warning');
  assert.deepEqual(problem.suggestions.map(({ replacement }) => replacement), ['Drug', undefined]);
});

test('a pattern that is suggested is for the reader', () => {
  const problem = problemOfCheck({ kind: 'pattern', start: 0, end: 5, message: 'None.', suggestions: ['(:Disease)-[:HAS_SYMPTOM]->'] }, query);
  assert.deepEqual(problem.suggestions, [{ words: 'Perhaps: (:Disease)-[:HAS_SYMPTOM]->', replacement: undefined }]);
});

test('notifications have their place in the statement', () => {
  const note = { code: 'X', description: 'The missing label name is: Drug', severityLevel: 'WARNING', position: { offset: 17, line: 1, column: 18 } };
  const status = { statusDescription: 'The label `Drug` does not exist.', diagnosticRecord: { _hints: ['Perhaps: Drugs.'] } };
  const [problem] = problemsOfSummary({ notifications: [note], gqlStatusObjects: [status] } as never, query, 8);
  assert.equal(query.slice(problem!.from, problem!.to), 'Drug');
  assert.equal(problem!.severity, 'warning');
  assert.deepEqual(problem!.suggestions, [{ words: 'Perhaps: Drugs.' }]);
});

test('what is underlined is a word, a quoted name, one sign, or the last one at the end', () => {
  assert.deepEqual(rangeAt('RETURN abc', 7), { from: 7, to: 10 });
  assert.deepEqual(rangeAt('RETURN `a b`.c', 7), { from: 7, to: 12 });
  assert.deepEqual(rangeAt('RETURN )', 7), { from: 7, to: 8 });
  assert.deepEqual(rangeAt('MATCH  ', 7), { from: 4, to: 7 });
  assert.deepEqual(rangeAt('', 0), { from: 0, to: 0 });
});

test('codes are called by words', () => {
  assert.equal(titleOf(SYNTAX), 'Syntax error');
  assert.equal(titleOf('Neo.TransientError.Transaction.DeadlockDetected'), 'Deadlock detected');
  assert.equal(titleOf(undefined), 'Error');
});
