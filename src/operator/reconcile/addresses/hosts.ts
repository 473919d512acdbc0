import { baseURLProblem, portOf } from '../../../common/http/url.ts';
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
   * @param allowed `host` for the default port of the scheme, or `host:port` for that port; or, for one scheme alone, as
   * `URL.origin` writes them. A host that begins with `*.` stands for any one label there, and a
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
    const isLike = spellingsOf(parsed).some((host) => this.#patterns.some((pattern) => pattern.test(host)));
    return isLike || this.names(url) || this.#ranges.some((range) => range.has(parsed));
  }

  /** The very host is allowed, not one like it. */
  names(url: string): boolean {
    const parsed = URL.parse(url);
    return parsed !== null && [parsed.origin, ...spellingsOf(parsed)].some((host) => this.#hosts.has(host));
  }

  /** @param field of the spec, in messages */
  admit(url: string, field: string): Admission {
    const problem = baseURLProblem(url);
    if (problem !== undefined) return { refusal: `${field} ${problem}` };
    if (this.admits(url)) return { url };
    const parsed = new URL(url);
    return { refusal: `${field}: the host ${parsed.host} ${this.#why(parsed)}; no request is sent to it` };
  }

  #why({ protocol, host, hostname, origin }: URL): string {
    const scheme = protocol === 'http:' ? 'https' : 'http';
    if (this.admits(`${scheme}://${host}`)) return `is allowed by ${scheme} only`;
    const portless = `${protocol}//${hostname}`;
    if (!this.admits(portless)) return this.#refusal;
    const toList = this.#hosts.has(portless) ? origin : host;
    return `${this.#refusal} (${hostname} is allowed on its default port alone: list ${toList})`;
  }
}

/** The host as an entry may have it: without the default port, and with any. */
function spellingsOf(url: URL): readonly string[] {
  return [url.host, `${url.hostname}:${portOf(url)}`];
}

function isPattern(host: string): boolean {
  return host.startsWith('*.');
}

/** `*.agents.svc:4040`: one label, never more. */
function patternOf(host: string): RegExp {
  return new RegExp(`^[^.:*]+${RegExp.escape(host.slice(1))}$`);
}
