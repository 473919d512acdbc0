import type { z } from 'zod';
import { type Report, report } from '../status/outcome.ts';
import { holdsLostKey, isLarger } from './bounds.ts';
import type { ManagedObject } from './resource.ts';

/** No kind takes a field of this size, whatever is in it. */
const neverTakenBytes = 512 * 1024;
/** A condition holds no more than 32 KiB. */
const mostNamed = 20;

/** The spec with its defaults, or a report that names every field that is wrong: for what the CRD could not refuse. */
export function parseSpec<Spec>(
  schema: z.ZodType<Spec>,
  object: ManagedObject,
): { readonly spec: Spec } | { readonly report: Report } {
  // To check what cannot be taken anyway against a schema takes long.
  const problems = Object.entries(object.spec).flatMap(([field, value]) => {
    if (isLarger(value, neverTakenBytes))
      return [`spec.${field}: is more than ${neverTakenBytes} bytes long, which no field may be`];
    return holdsLostKey(value) ? [`spec.${field}: keys must not be __proto__`] : [];
  });
  if (problems.length > 0) return { report: report('Rejected', problems.join('; ')) };
  const parsed = schema.safeParse(object.spec);
  if (parsed.success) return { spec: parsed.data };
  const { issues } = parsed.error;
  const named = issues.slice(0, mostNamed).map(({ path, message }) => `${['spec', ...path].join('.')}: ${message}`);
  const more = issues.length > named.length ? [`and ${issues.length - named.length} more`] : [];
  return { report: report('Rejected', [...named, ...more].join('; ')) };
}
