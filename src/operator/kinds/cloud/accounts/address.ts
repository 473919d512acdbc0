import { type Admission, AllowedHosts } from '../../../reconcile/hosts.ts';

/** The hosts that API keys may be sent to: the operator's own, and those that its administrator allows. */
export function apiHosts(defaultURL: string | undefined, allowed: readonly string[]): AllowedHosts {
  const hosts = defaultURL === undefined ? allowed : [...allowed, new URL(defaultURL).host];
  return new AllowedHosts(hosts, 'is neither that of --api-url nor in --allowed-api-hosts');
}

/** The address that a spec asks for; without one the operator's. */
export function addressOf(apiURL: string | undefined, defaultURL: string | undefined, hosts: AllowedHosts): Admission {
  const url = apiURL ?? defaultURL;
  if (url !== undefined) return hosts.admit(url, 'spec.apiURL');
  return { refusal: 'spec.apiURL is needed: the operator was started without --api-url' };
}
