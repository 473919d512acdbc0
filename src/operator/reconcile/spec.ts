import type { z } from 'zod';
import { type Report, report } from './outcome.ts';
import type { ManagedObject } from './resource.ts';

/** The spec with its defaults, or a report that names every field that is wrong: for what the CRD could not refuse. */
export function parseSpec<Spec>(
  schema: z.ZodType<Spec>,
  object: ManagedObject,
): { readonly spec: Spec } | { readonly report: Report } {
  const parsed = schema.safeParse(object.spec);
  if (parsed.success) return { spec: parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) => `${['spec', ...path].join('.')}: ${message}`);
  return { report: report('Rejected', problems.join('; ')) };
}
