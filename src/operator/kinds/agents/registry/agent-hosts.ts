import type { Spec } from '../agent/schema.ts';

/** Where an agent's requests go, or why they may not go there. */
export type Admission = { readonly url: string } | { readonly refusal: string };

/**
 * Where agents may be: behind Services of the namespace of the resource, and at the hosts that the administrator allows.
 * Whoever may write an Agent must not be able to make the operator call any address of the cluster.
 */
export class AgentHosts {
  readonly #hosts: ReadonlySet<string>;

  /** @param allowed as `URL.host` writes them: `host` for the default port of the scheme, or `host:port` */
  constructor(allowed: readonly string[]) {
    this.#hosts = new Set(allowed);
  }

  /** The address that a spec asks for. */
  addressOf({ serviceRef, url }: Spec, namespace: string): Admission {
    if (serviceRef !== undefined) return { url: `http://${serviceRef.name}.${namespace}.svc:${serviceRef.port}` };
    if (url === undefined || !URL.canParse(url)) return { refusal: `spec.url: ${JSON.stringify(url)} is no URL` };
    if (this.#hosts.has(new URL(url).host)) return { url };
    return {
      refusal: `spec.url: the host ${new URL(url).host} is not in --allowed-agent-hosts; no request is sent to it`,
    };
  }

  /** An address that was once asked for in this namespace is still one that requests may go to. */
  admits(url: string, namespace: string): boolean {
    if (!URL.canParse(url)) return false;
    const { protocol, host, hostname } = new URL(url);
    const isService = protocol === 'http:' && /^[^.]+\.([^.]+)\.svc$/.exec(hostname)?.[1] === namespace;
    return isService || this.#hosts.has(host);
  }
}
