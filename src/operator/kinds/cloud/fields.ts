import { z } from 'zod';
import { cloudID } from '../../../common/cloud-id.ts';
import type { PrinterColumn } from '../../reconcile/kind.ts';

/* Fields that several kinds have. */

/** The id of what the resource configures; it cannot be changed, because another parent is another resource. */
export function parentID(field: string) {
  return cloudID.meta({
    'x-kubernetes-validations': [
      { rule: 'self == oldSelf', message: `${field} cannot be changed; delete this resource and create another` },
    ],
  });
}

/** A key of a Secret or a ConfigMap; the name goes into a field selector and must be one. */
export const keyRef = z.object({
  name: z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
    .describe('Name of the object, in the namespace of this resource.'),
  key: z
    .string()
    .max(253)
    .regex(/^[-._a-zA-Z0-9]+$/)
    .describe('Key in its data.'),
});

const enabledMeans = (what: string) => `Whether the ${what} applies to traffic; false keeps it configured but off.`;

/** Cloud Management API, section 2: every module has it, and it defaults to true. */
export function enabled(what: string) {
  return z.boolean().default(true).describe(enabledMeans(what));
}

/** The same, in an object that is `atomic`. */
export function enabledInAtomic(what: string) {
  return defaulted(z.boolean(), true).describe(`${enabledMeans(what)} Default true.`);
}

/** Optional; its default is applied here, and not by the API server. */
export function defaulted<Value extends boolean | number>(schema: z.ZodType<Value>, value: Value) {
  return schema.optional().transform((given) => given ?? value);
}

/**
 * An object that server-side apply takes as a whole: of another it makes null when the last of its fields goes. It has
 * `defaulted` fields only: with a default of the API server it would never be as anybody applied it, a conflict for the next.
 */
export const atomic = { 'x-kubernetes-map-type': 'atomic' };

/** A text that is bounded in bytes of UTF-8, which a schema alone counts as characters. */
export function textOfBytes(field: string, most: number, plain = z.string()) {
  const message = `must be at most ${most} bytes of UTF-8`;
  return plain
    .max(most)
    .refine((text) => Buffer.byteLength(text) <= most, message)
    .meta({ 'x-kubernetes-validations': [{ rule: `size(bytes(self)) <= ${most}`, message: `${field} ${message}` }] });
}

/** A list without order or repetition; server-side apply merges it as one. */
export const set = { 'x-kubernetes-list-type': 'set' };

/** A column that shows the status of a part's condition. */
export function readiness(name: string, condition: string): PrinterColumn {
  return { name, type: 'string', jsonPath: `.status.conditions[?(@.type=="${condition}")].status` };
}
