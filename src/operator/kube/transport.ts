import { hash } from 'node:crypto';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import '../../common/http/late-streams.ts';
import type { TlsMaterial } from './credentials.ts';

/** A call that has not connected by then fails well before a lost lease could be taken by another process. */
const connectTimeoutMs = 4_000;

/** Of each pool, opened as they are needed. As many calls are admitted at a time, so that none is ever queued behind its guard. */
export const maxConnections = 12;

/**
 * The dispatchers that share one set of TLS material: a pool for calls; one for those that wait for no others; and one for
 * watches, which share a few connections where the server speaks HTTP/2 and have one each where it does not.
 */
export interface Transport {
  readonly calls: Dispatcher;
  readonly apart: Dispatcher;
  readonly watches: Dispatcher;
}

/** Builds transports, a new one only when the TLS material has changed. */
export class Transports {
  readonly #proxyURL: string | undefined;
  readonly #given: Transport | undefined;
  readonly #all = new Set<Dispatcher>();
  #current: { tls: TlsMaterial; readonly fingerprint: string; readonly transport: Transport } | undefined;

  /** @param dispatcher carries everything in place of connections to the server; closed by whoever made it */
  constructor(proxyURL: string | undefined, dispatcher: Dispatcher | undefined) {
    this.#proxyURL = proxyURL;
    this.#given = dispatcher && { calls: dispatcher, apart: dispatcher, watches: dispatcher };
  }

  for(tls: TlsMaterial): Transport {
    if (this.#given !== undefined) return this.#given;
    // Read anew every minute, and asked for with every request.
    if (this.#current?.tls === tls) return this.#current.transport;
    const fingerprint = fingerprintOf(tls);
    if (this.#current?.fingerprint === fingerprint) {
      this.#current.tls = tls;
      return this.#current.transport;
    }
    if (this.#current !== undefined) this.#retire(this.#current.transport);
    const transport = {
      calls: this.#dispatcher(tls, { connections: maxConnections }),
      apart: this.#dispatcher(tls, { connections: maxConnections }),
      watches: this.#dispatcher(tls, { connections: null, allowH2: true }),
    };
    this.#current = { tls, fingerprint, transport };
    return transport;
  }

  async close(): Promise<void> {
    this.#current = undefined;
    await Promise.allSettled([...this.#all].map((dispatcher) => dispatcher.destroy()));
    this.#all.clear();
  }

  #dispatcher(tls: TlsMaterial, options: { readonly connections: number | null; readonly allowH2?: boolean }) {
    const { connections, allowH2 = false } = options;
    const shared = { connections, keepAliveTimeout: 30_000, connectTimeout: connectTimeoutMs };
    const connect = { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000, timeout: connectTimeoutMs };
    const dispatcher =
      this.#proxyURL === undefined
        ? new Agent({ ...shared, allowH2, connect })
        : new ProxyAgent({ ...shared, allowH2: false, uri: this.#proxyURL, requestTls: connect });
    this.#all.add(dispatcher);
    return dispatcher;
  }

  /** What is in flight on old material ends by itself: calls in seconds, watches in minutes. */
  #retire(transport: Transport): void {
    for (const dispatcher of Object.values(transport) as Dispatcher[]) {
      dispatcher.close().then(
        () => this.#all.delete(dispatcher),
        () => this.#all.delete(dispatcher),
      );
    }
  }
}

function fingerprintOf(tls: TlsMaterial): string {
  const sorted = Object.entries(tls).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', sorted.map(([name, value]) => `${name}=${String(value)}\0`).join(''), 'hex');
}
