import type { z } from 'zod';
import { fieldName, isAbsent } from '../../common/field-path.ts';
import { ApiProblem, type Cause, problems } from './problem.ts';

type Issue = z.core.$ZodIssue;

/**
 * The body as the schema has it.
 *
 * @throws ApiProblem naming the first field that is unknown, missing or invalid.
 */
export function readBody<S extends z.ZodObject>(schema: S, body: unknown): z.output<S> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiProblem('bodyNotObject', 'the body must be a JSON object');
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw problemOf(parsed.error.issues, body);
}

function problemOf(issues: readonly Issue[], body: object): ApiProblem {
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) {
    return new ApiProblem(
      'fieldUnknown',
      `unknown field "${fieldName([...unknown.path, ...unknown.keys.slice(0, 1)])}"`,
    );
  }
  const [issue] = issues;
  if (issue === undefined) return new ApiProblem('bodyNotObject', 'the body is invalid');
  const name = fieldName(issue.path);
  if (isAbsent(issue.path, body)) return new ApiProblem('fieldMissing', `missing field "${name}"`);
  return new ApiProblem(causeOf(issue), `invalid field "${name}": ${issue.message}`);
}

/** A schema names a cause of its own with `.refine(…, { params: { cause } })`. */
function causeOf(issue: Issue): Cause {
  const cause: unknown = issue.code === 'custom' ? issue.params?.cause : undefined;
  return typeof cause === 'string' && cause in problems ? (cause as Cause) : 'fieldInvalid';
}
