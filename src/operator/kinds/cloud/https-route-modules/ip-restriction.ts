import type { CloudClient } from '../../../cloud/client.ts';
import type { IPRestriction, IPRestrictionReplace } from '../../../cloud/schemas.ts';
import { fieldsOf } from '../../../reconcile/parts/fields.ts';
import type { Part } from '../../../reconcile/parts/part.ts';
import type { Spec } from './schema.ts';

export const ipRestriction: Part<Spec, CloudClient, IPRestrictionReplace, IPRestriction> = {
  name: 'ipRestriction',
  condition: 'IpRestrictionReady',
  displayName: 'IP restriction module',
  desired: async ({ ipRestriction: part }) => part && { enabled: part.enabled, ip_policy_ids: part.ipPolicyIDs },
  status: () => ({}),
  ...fieldsOf<IPRestrictionReplace, IPRestriction>({
    enabled: 'enabled',
    // The API takes ids and shows references, in an order of its own.
    ipPolicyIDs: ['ip_policy_ids', ({ ip_policies }) => ip_policies.map(({ id }) => id)],
  }),
  get: (cloud, route, call) => cloud.routeModules.ipRestriction.get(route, call),
  replace: (cloud, route, body, call) => cloud.routeModules.ipRestriction.replace(route, body, call),
  delete: (cloud, route, call) => cloud.routeModules.ipRestriction.delete(route, call),
};
