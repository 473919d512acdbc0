import type { Admission, AllowedHosts } from '../../../reconcile/hosts.ts';
import type { Spec } from '../agent/schema.ts';

/** The address that a spec asks for: a Service of the resource's own namespace, or an allowed host. */
export function addressOf({ serviceRef, url = '' }: Spec, namespace: string, hosts: AllowedHosts): Admission {
  if (serviceRef === undefined) return hosts.admit(url, 'spec.url');
  return { url: `http://${serviceRef.name}.${namespace}.svc:${serviceRef.port}` };
}

/** An address that was once asked for in this namespace is still one that requests may go to. */
export function isAdmitted(url: string, namespace: string, hosts: AllowedHosts): boolean {
  if (hosts.admits(url)) return true;
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && /^[^.]+\.([^.]+)\.svc$/.exec(hostname)?.[1] === namespace;
}
