import type { AllowedHosts } from '../../../reconcile/addresses/hosts.ts';
import type { ServicePort } from '../../../reconcile/addresses/service-route.ts';
import type { Spec } from '../agent/schema.ts';

/** Where an agent is. */
export interface AgentAddress {
  readonly url: string;
  /** Set where a tenant chose it: then the Service is looked at before a request goes there. */
  readonly service?: ServicePort;
}

/** The address that a spec asks for: a Service of the resource's own namespace, or an allowed host. */
export function addressOf(
  { serviceRef, url = '' }: Spec,
  namespace: string,
  hosts: AllowedHosts,
): AgentAddress | { readonly refusal: string } {
  if (serviceRef === undefined) return hosts.admit(url, 'spec.url');
  const { name, port } = serviceRef;
  return { url: `http://${name}.${namespace}.svc:${port}`, service: { namespace, name, port } };
}

/** An address that was once asked for in this namespace, if requests may still go to it. */
export function admitted(url: string, namespace: string, hosts: AllowedHosts): AgentAddress | undefined {
  const service = serviceAt(url);
  if (service?.namespace === namespace) return { url, service };
  return hosts.admits(url) ? { url } : undefined;
}

function serviceAt(url: string): ServicePort | undefined {
  const { protocol, hostname, port } = URL.parse(url) ?? {};
  const [, name, namespace] = /^([^.]+)\.([^.]+)\.svc$/.exec(hostname ?? '') ?? [];
  if (protocol !== 'http:' || name === undefined || namespace === undefined) return undefined;
  return { namespace, name, port: Number(port || 80) };
}
