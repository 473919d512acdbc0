import { lookup } from 'node:dns';
import { isLoopback, lookupAs, lookupExcept, refusalOf } from '../../../../common/http/address.ts';
import type { AgentClientOptions } from '../../../agent-client/client.ts';
import type { AllowedHosts } from '../../../reconcile/addresses/hosts.ts';
import type { ServiceRoutes } from '../../../reconcile/addresses/service-route.ts';
import type { AgentAddress } from './address.ts';

/** How requests get to an agent: by an address that was looked at, or not at all. */
export function routeTo(
  { url, service }: AgentAddress,
  hosts: AllowedHosts,
  services: Pick<ServiceRoutes, 'addressOf'>,
): Pick<AgentClientOptions, 'admit' | 'lookup'> {
  if (service === undefined) return { lookup: lookupExcept(lookup, (address) => isRefused(address, hosts.names(url))) };
  let checked = '';
  return {
    admit: async () => {
      checked = await services.addressOf(service);
    },
    lookup: lookupAs(() => checked),
  };
}

/** Who names a very host may mean a process beside the operator; nobody means what gives out a machine's credentials. */
function isRefused(address: string, isNamed: boolean): boolean {
  return refusalOf(address) !== undefined && !(isNamed && isLoopback(address));
}
