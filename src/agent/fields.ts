import type { z } from 'zod';

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

function isAbsent(path: readonly PropertyKey[], value: unknown): boolean {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return true;
    at = Reflect.get(at, key);
  }
  return false;
}

/** `tunnels.web.addr`, `headers[0]` */
function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}
