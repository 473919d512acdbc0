import type { CloudClient } from '../../../cloud/client.ts';
import type { MutualTLS, MutualTLSReplace } from '../../../cloud/schemas.ts';
import type { Part } from '../../../reconcile/parts/part.ts';
import type { Spec } from './schema.ts';

export const mutualTLS: Part<Spec, CloudClient, MutualTLSReplace, MutualTLS> = {
  name: 'mutualTLS',
  condition: 'MutualTLSReady',
  displayName: 'mutual TLS module',
  desired: async ({ mutualTLS: part }) =>
    part && { enabled: part.enabled, certificate_authority_ids: part.certificateAuthorityIDs },
  diff,
  status: () => ({}),
  get: (cloud, { edgeID }, call) => cloud.httpsEdges.mutualTLS.get(edgeID, call),
  replace: (cloud, { edgeID }, body, call) => cloud.httpsEdges.mutualTLS.replace(edgeID, body, call),
  delete: (cloud, { edgeID }, call) => cloud.httpsEdges.mutualTLS.delete(edgeID, call),
};

/** The API takes ids and shows references, in an order of its own. */
function diff(body: MutualTLSReplace, found: MutualTLS): readonly string[] {
  const wanted = body.certificate_authority_ids;
  const attached = new Set(found.certificate_authorities.map(({ id }) => id));
  const regrouped = wanted !== undefined && new Set(wanted).symmetricDifference(attached).size > 0;
  return [...(body.enabled === found.enabled ? [] : ['enabled']), ...(regrouped ? ['certificateAuthorityIDs'] : [])];
}
