import { badRequest } from '../api-error.ts';
import { fieldColumn } from '../columns.ts';
import { mapOf } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { builtinType } from './builtin-type.ts';
import { integer, microTime, object, objectSchema, string } from './schemas.ts';

const microTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(Z|[+-]\d{2}:\d{2})$/;

/** Throws 400 unless the fields that are set are `metav1.MicroTime`: RFC 3339 with six digits of fraction. */
export function checkMicroTimes(kind: string, version: string, holder: unknown, fields: readonly string[]): void {
  for (const field of fields) {
    const value = mapOf(holder)[field];
    if (value === undefined || value === null || (typeof value === 'string' && microTimePattern.test(value))) continue;
    const problem = `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": ${whereItStops(String(value))}`;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`);
  }
}

/** Where Go's time parser gives up. */
function whereItStops(text: string): string {
  const rest = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(.*)$/.exec(text)?.[1];
  return rest === undefined
    ? `cannot parse ${JSON.stringify(text)} as "2006"`
    : `cannot parse ${JSON.stringify(rest)} as ".000000"`;
}

function prepare(lease: ApiObject): ApiObject {
  checkMicroTimes('Lease', 'v1', lease.spec, ['acquireTime', 'renewTime']);
  return { ...lease, spec: mapOf(lease.spec) };
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
  behaviour: { emptyObject: { spec: {} }, prepare },
});
