import type { CloudClient } from '../../../cloud/client.ts';
import type { MutualTLS, MutualTLSReplace } from '../../../cloud/schemas.ts';
import { fieldsOf } from '../../../reconcile/parts/fields.ts';
import type { Part } from '../../../reconcile/parts/part.ts';
import type { Spec } from './schema.ts';

export const mutualTLS: Part<Spec, CloudClient, MutualTLSReplace, MutualTLS> = {
  name: 'mutualTLS',
  condition: 'MutualTLSReady',
  displayName: 'mutual TLS module',
  desired: async ({ mutualTLS: part }) =>
    part && { enabled: part.enabled, certificate_authority_ids: part.certificateAuthorityIDs },
  status: () => ({}),
  ...fieldsOf<MutualTLSReplace, MutualTLS>({
    enabled: 'enabled',
    // The API takes ids and shows references, in an order of its own.
    certificateAuthorityIDs: [
      'certificate_authority_ids',
      ({ certificate_authorities }) => certificate_authorities.map(({ id }) => id),
    ],
  }),
  get: (cloud, { edgeID }, call) => cloud.httpsEdges.mutualTLS.get(edgeID, call),
  replace: (cloud, { edgeID }, body, call) => cloud.httpsEdges.mutualTLS.replace(edgeID, body, call),
  delete: (cloud, { edgeID }, call) => cloud.httpsEdges.mutualTLS.delete(edgeID, call),
};
