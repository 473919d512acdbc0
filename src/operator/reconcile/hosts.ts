/** Where requests go, or why they may not go there. */
export type Admission = { readonly url: string } | { readonly refusal: string };

/**
 * The hosts that the administrator allows. Whoever may write a resource must not be able to make the operator call any
 * address of the cluster.
 */
export class AllowedHosts {
  readonly #hosts: ReadonlySet<string>;
  readonly #refusal: string;

  /**
   * @param allowed as `URL.host` writes them: `host` for the default port of the scheme, or `host:port`; or, for one
   * scheme alone, as `URL.origin` does
   * @param refusal what is said of another, naming the flag: "is not in --allowed-agent-hosts"
   */
  constructor(allowed: readonly string[], refusal: string) {
    this.#hosts = new Set(allowed);
    this.#refusal = refusal;
  }

  admits(url: string): boolean {
    if (!URL.canParse(url)) return false;
    const { host, origin } = new URL(url);
    return this.#hosts.has(host) || this.#hosts.has(origin);
  }

  /** @param field of the spec, in messages */
  admit(url: string, field: string): Admission {
    if (!URL.canParse(url)) return { refusal: `${field}: ${JSON.stringify(url)} is no URL` };
    if (this.admits(url)) return { url };
    const { host, protocol } = new URL(url);
    const scheme = protocol === 'http:' ? 'https' : 'http';
    const why = this.admits(`${scheme}://${host}`) ? `is allowed by ${scheme} only` : this.#refusal;
    return { refusal: `${field}: the host ${host} ${why}; no request is sent to it` };
  }
}
