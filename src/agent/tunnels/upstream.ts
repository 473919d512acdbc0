/** The local server that a tunnel forwards to. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** `8080`, `host:8080`, `[::1]:8080`, `:8080`; for http also URLs without path; undefined when it is none of these. */
export function parseUpstream(addr: string, proto: 'http' | 'tcp'): Upstream | undefined {
  if (proto === 'http' && /^https?:\/\//i.test(addr)) return fromURL(addr);
  const match = /^(?:(?:\[([0-9a-f:.]+)\]|([^\s:[\]/@]*)):)?(\d{1,5})$/i.exec(addr);
  if (match === null) return undefined;
  const port = Number(match[3]);
  if (port < 1 || port > 65_535) return undefined;
  return { host: match[1] ?? (match[2] || 'localhost'), port, tls: false };
}

export function upstreamHost({ host, port }: Upstream): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function fromURL(addr: string): Upstream | undefined {
  const url = URL.canParse(addr) ? new URL(addr) : undefined;
  if (url === undefined || `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` !== '/') {
    return undefined;
  }
  const tls = url.protocol === 'https:';
  const port = Number(url.port || (tls ? 443 : 80));
  return port === 0 ? undefined : { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, tls };
}
