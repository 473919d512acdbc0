import { type Admission, AllowedHosts } from '../../../reconcile/addresses/hosts.ts';

/**
 * Where API keys may be sent to: to the operator's own host, by its own scheme or by https, and to those that its
 * administrator allows. Whoever may write a CloudAccount must not be able to make a key travel in clear text.
 *
 * @param allowed as `URL.origin` writes them
 */
export function apiHosts(defaultURL: string | undefined, allowed: readonly string[]): AllowedHosts {
  const hosts = defaultURL === undefined ? allowed : [...allowed, ...originsOf(new URL(defaultURL))];
  return new AllowedHosts(hosts, 'is neither that of --api-url nor in --allowed-api-hosts');
}

/** The address that a spec asks for; without one the operator's. */
export function addressOf(apiURL: string | undefined, defaultURL: string | undefined, hosts: AllowedHosts): Admission {
  const url = apiURL ?? defaultURL;
  if (url !== undefined) return hosts.admit(url, 'spec.apiURL');
  return { refusal: 'spec.apiURL is needed: the operator was started without --api-url' };
}

function originsOf({ origin, host }: URL): readonly string[] {
  return [origin, `https://${host}`];
}
