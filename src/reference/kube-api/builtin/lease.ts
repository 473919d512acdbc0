import { UndecodableError } from '../api-error.ts';
import { type JsonMap, mapOf } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { fieldColumn } from '../presentation/columns.ts';
import { builtinType } from './builtin-type.ts';
import { integer, microTime, object, objectSchema, string } from './schemas.ts';

const microTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{6})(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * A copy with `fields` in UTC. Throws 400 unless those that are set are `metav1.MicroTime`: RFC 3339 with six digits of
 * fraction.
 */
export function withMicroTimes<T extends JsonMap>(kind: string, holder: T, fields: readonly string[]): T {
  const set = fields.filter((field) => holder[field] !== undefined && holder[field] !== null);
  return { ...holder, ...Object.fromEntries(set.map((field) => [field, inUtc(kind, holder[field])])) };
}

function inUtc(kind: string, value: unknown): string {
  const text = String(value);
  const fraction = microTimePattern.exec(text)?.[1];
  if (fraction !== undefined) return `${new Date(text).toISOString().slice(0, 19)}${fraction}Z`;
  const problem = `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": ${whereItStops(text)}`;
  throw new UndecodableError(`${kind} in version "v1" cannot be handled as a ${kind}: ${problem}`);
}

/** Where Go's time parser gives up. */
function whereItStops(text: string): string {
  const [, fraction, rest] = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{6})?(.*)$/.exec(text) ?? [];
  const [found, wanted] = rest === undefined ? [text, '2006'] : [rest, fraction === undefined ? '.000000' : 'Z07:00'];
  return `cannot parse ${JSON.stringify(found)} as "${wanted}"`;
}

function prepare(lease: ApiObject): ApiObject {
  return { ...lease, spec: withMicroTimes('Lease', mapOf(lease.spec), ['acquireTime', 'renewTime']) };
}

export const lease = builtinType({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  schema: objectSchema('Lease defines a lease concept.', {
    spec: object('What the lease says.', {
      holderIdentity: string('Identity of the holder.'),
      leaseDurationSeconds: integer('Seconds that candidates must wait after renewTime before they take over.'),
      acquireTime: microTime('When the holder acquired the lease.'),
      renewTime: microTime('When the holder renewed the lease last.'),
      leaseTransitions: integer('How often the holder changed.'),
      strategy: string('How a holder is picked in coordinated election.'),
      preferredHolder: string('To whom the holder should hand over.'),
    }),
  }),
  columns: [fieldColumn('Holder', '.spec.holderIdentity')],
  behaviour: { emptyObject: { spec: {} }, unconditionalUpdate: false, prepare },
});
