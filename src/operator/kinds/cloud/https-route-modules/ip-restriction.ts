import type { CloudClient } from '../../../cloud/client.ts';
import type { IPRestriction, IPRestrictionReplace } from '../../../cloud/schemas.ts';
import type { Part } from '../../../reconcile/parts/part.ts';
import type { Spec } from './schema.ts';

export const ipRestriction: Part<Spec, CloudClient, IPRestrictionReplace, IPRestriction> = {
  name: 'ipRestriction',
  condition: 'IpRestrictionReady',
  displayName: 'IP restriction module',
  desired: async ({ ipRestriction: part }) => part && { enabled: part.enabled, ip_policy_ids: part.ipPolicyIDs },
  diff,
  status: () => ({}),
  get: (cloud, route, call) => cloud.routeModules.ipRestriction.get(route, call),
  replace: (cloud, route, body, call) => cloud.routeModules.ipRestriction.replace(route, body, call),
  delete: (cloud, route, call) => cloud.routeModules.ipRestriction.delete(route, call),
};

/** The API takes ids and shows references, in an order of its own. */
function diff(body: IPRestrictionReplace, found: IPRestriction): readonly string[] {
  const wanted = body.ip_policy_ids;
  const attached = new Set(found.ip_policies.map(({ id }) => id));
  const regrouped = wanted !== undefined && new Set(wanted).symmetricDifference(attached).size > 0;
  return [...(body.enabled === found.enabled ? [] : ['enabled']), ...(regrouped ? ['ipPolicyIDs'] : [])];
}
