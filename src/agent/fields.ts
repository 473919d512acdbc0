import type { z } from 'zod';
import { fieldName, isAbsent } from '../common/field-path.ts';

type Issue = z.core.$ZodIssue;

/** What is wrong with an object that its schema refused, in one line that names the field. */
export function explain(error: z.ZodError, value: unknown): string {
  const issues = error.issues.flatMap(alternatives);
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) return `unknown field "${fieldName([...unknown.path, ...unknown.keys.slice(0, 1)])}"`;
  const [issue] = issues;
  if (issue === undefined || issue.path.length === 0) return issue?.message ?? 'invalid';
  const name = fieldName(issue.path);
  return isAbsent(issue.path, value) ? `missing field "${name}"` : `invalid field "${name}": ${issue.message}`;
}

/** Errors of a map's values stand under the map itself otherwise. */
function alternatives(issue: Issue): readonly Issue[] {
  return issue.code === 'invalid_key' ? issue.issues : [issue];
}
