import type { CloudClient } from '../../../cloud/client.ts';
import type { TLSTermination, TLSTerminationReplace } from '../../../cloud/schemas.ts';
import { fieldsOf } from '../../../reconcile/parts/fields.ts';
import type { Part } from '../../../reconcile/parts/part.ts';
import type { Spec, Status } from './schema.ts';

export const tlsTermination: Part<Spec, CloudClient, TLSTerminationReplace, TLSTermination> = {
  name: 'tlsTermination',
  condition: 'TlsTerminationReady',
  displayName: 'TLS termination module',
  desired: async ({ tlsTermination: part }) => part && { enabled: part.enabled, min_version: part.minVersion },
  refusal,
  status: toStatus,
  ...fieldsOf<TLSTerminationReplace, TLSTermination>({
    enabled: 'enabled',
    minVersion: 'min_version',
  }),
  get: (cloud, { edgeID }, call) => cloud.httpsEdges.tlsTermination.get(edgeID, call),
  replace: (cloud, { edgeID }, body, call) => cloud.httpsEdges.tlsTermination.replace(edgeID, body, call),
  delete: (cloud, { edgeID }, call) => cloud.httpsEdges.tlsTermination.delete(edgeID, call),
};

/** Cloud Management API, section 7. Where TLS ends is the edge's own, and shown by this module alone. */
function refusal(body: TLSTerminationReplace, found: TLSTermination | undefined): string | undefined {
  if (found?.terminate_at !== 'upstream' || body.min_version === undefined) return undefined;
  return 'the edge passes TLS through (terminateAt is upstream), where no minVersion is allowed: remove minVersion';
}

function toStatus(found: TLSTermination): Omit<NonNullable<Status['tlsTermination']>, 'applied'> {
  return { terminateAt: found.terminate_at };
}
