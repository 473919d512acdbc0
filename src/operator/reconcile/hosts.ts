import { baseURLProblem } from '../../common/http/url.ts';
import { HostRange } from './host-range.ts';

/** Where requests go, or why they may not go there. */
export type Admission = { readonly url: string } | { readonly refusal: string };

/**
 * The hosts that the administrator allows. Whoever may write a resource must not be able to make the operator call any
 * address of the cluster.
 */
export class AllowedHosts {
  readonly #hosts: ReadonlySet<string>;
  readonly #patterns: readonly RegExp[];
  readonly #ranges: readonly HostRange[];
  readonly #refusal: string;

  /**
   * @param allowed as `URL.host` writes them: `host` for the default port of the scheme, or `host:port`; or, for one
   * scheme alone, as `URL.origin` does. A host that begins with `*.` stands for any one label there, and a
   * network with its prefix for the addresses in it
   * @param refusal what is said of another, naming the flag: "is not in --allowed-agent-hosts"
   */
  constructor(allowed: readonly string[], refusal: string) {
    this.#hosts = new Set(allowed.filter((host) => !isPattern(host)));
    this.#patterns = allowed.filter(isPattern).map(patternOf);
    this.#ranges = allowed.map((host) => HostRange.parse(host)).filter((range) => range !== undefined);
    this.#refusal = refusal;
  }

  admits(url: string): boolean {
    const parsed = URL.parse(url);
    if (parsed === null) return false;
    const { host } = parsed;
    const isLike = this.#patterns.some((pattern) => pattern.test(host));
    return isLike || this.names(url) || this.#ranges.some((range) => range.has(parsed));
  }

  /** The very host is allowed, not one like it. */
  names(url: string): boolean {
    const parsed = URL.parse(url);
    return parsed !== null && (this.#hosts.has(parsed.host) || this.#hosts.has(parsed.origin));
  }

  /** @param field of the spec, in messages */
  admit(url: string, field: string): Admission {
    const problem = baseURLProblem(url);
    if (problem !== undefined) return { refusal: `${field} ${problem}` };
    if (this.admits(url)) return { url };
    const { host, protocol } = new URL(url);
    const scheme = protocol === 'http:' ? 'https' : 'http';
    const why = this.admits(`${scheme}://${host}`) ? `is allowed by ${scheme} only` : this.#refusal;
    return { refusal: `${field}: the host ${host} ${why}; no request is sent to it` };
  }
}

function isPattern(host: string): boolean {
  return host.startsWith('*.');
}

/** `*.agents.svc:4040`: one label, never more. */
function patternOf(host: string): RegExp {
  return new RegExp(`^[^.:*]+${RegExp.escape(host.slice(1))}$`);
}
