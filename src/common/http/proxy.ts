import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { UsageError } from '../usage.ts';

interface Options {
  readonly connections: number | null;
  readonly connect: NonNullable<EnvHttpProxyAgent.Options['requestTls']> & { readonly timeout: number };
}

/** The code of what kept a proxy from opening the way, its cause: nothing was sent to the service. */
export const closedWay = 'ERR_PROXY';

/** What is on this machine is never behind a proxy. */
const here = 'localhost,127.0.0.1,::1';

/**
 * Connections through the proxy that `HTTPS_PROXY` or `HTTP_PROXY` of the environment names, but to what `NO_PROXY` does; in small
 * letters they come first, and where one alone is given it is for both schemes. Undefined where none is named.
 *
 * @throws UsageError for what is no address of a proxy
 */
export function proxied({ connections, connect }: Options): EnvHttpProxyAgent | undefined {
  const { env } = process;
  const http = proxyIn('http_proxy') ?? proxyIn('HTTP_PROXY');
  const https = proxyIn('https_proxy') ?? proxyIn('HTTPS_PROXY');
  const httpProxy = http ?? https;
  if (httpProxy === undefined) return undefined;
  const noProxy = `${env.no_proxy ?? env.NO_PROXY ?? ''},${here}`;
  const tls = { proxyTls: connect, requestTls: connect };
  const clientFactory = (origin: URL, options: object) =>
    openingWays(origin, { ...options, headersTimeout: connect.timeout });
  const proxies = { httpProxy, httpsProxy: https ?? httpProxy, noProxy, clientFactory };
  return new EnvHttpProxyAgent({ connections, connect, ...tls, ...proxies });
}

/** That the proxy opens the way is part of connecting: undici would wait five minutes for it, and take it for the service's answer. */
function openingWays(origin: URL, options: Pool.Options & { readonly headersTimeout: number }): Pool {
  const pool = new Pool(origin, options);
  const open: (way: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData> = pool.connect.bind(pool);
  const connect = (way: Dispatcher.ConnectOptions) =>
    open(way).catch((cause: unknown) => {
      throw Object.assign(new Error('the proxy opens no way', { cause }), { code: closedWay });
    });
  return Object.assign(pool, { connect });
}

/** Without a scheme it is http, as to others who read these. A name and a password in it are not repeated. */
function proxyIn(name: string): string | undefined {
  const value = process.env[name]?.trim();
  if (!value) return undefined;
  const url = value.includes('://') ? value : `http://${value}`;
  const { protocol = '', username = '', password = '' } = URL.parse(url) ?? {};
  if (!/^https?:$/.test(protocol)) throw new UsageError(`${name} names no proxy: write http://host:port`);
  try {
    decodeURIComponent(username + password);
  } catch (cause) {
    throw new UsageError(`${name} has a % in its user or password: write %25`, { cause });
  }
  return url;
}
