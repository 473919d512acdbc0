/** Where an account's requests go, or why they may not go there. */
export type Admission = { readonly url: string } | { readonly refusal: string };

/**
 * The hosts that API keys may be sent to: the operator's own, and those that its administrator allows. Whoever may write
 * a CloudAccount must not be able to make the operator call any address of the cluster.
 */
export class ApiHosts {
  readonly #defaultURL: string | undefined;
  readonly #hosts: ReadonlySet<string>;

  /** @param allowed as `URL.host` writes them: `host` for the default port of the scheme, or `host:port` */
  constructor(defaultURL: string | undefined, allowed: readonly string[]) {
    this.#defaultURL = defaultURL;
    this.#hosts = new Set(defaultURL === undefined ? allowed : [...allowed, hostOf(defaultURL)]);
  }

  /** @param apiURL as the spec has it; undefined asks for the operator's */
  admit(apiURL: string | undefined): Admission {
    const url = apiURL ?? this.#defaultURL;
    if (url === undefined) return { refusal: 'spec.apiURL is needed: the operator was started without --api-url' };
    if (!URL.canParse(url)) return { refusal: `spec.apiURL: ${JSON.stringify(url)} is no URL` };
    if (this.#hosts.has(hostOf(url))) return { url };
    return {
      refusal: `spec.apiURL: the host ${hostOf(url)} is neither that of --api-url nor in --allowed-api-hosts; no request is sent to it`,
    };
  }
}

function hostOf(url: string): string {
  return new URL(url).host;
}
