import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Listening, listen } from '../../common/listen.ts';
import type { Log } from '../../common/log.ts';
import type { Descriptors } from '../descriptors/descriptors.ts';
import { isExhaustion } from '../descriptors/exhausted.ts';
import type { Ticks } from '../metrics/rate.ts';
import { newTunnelMetrics, type TunnelMetrics } from '../metrics/tunnel-metrics.ts';
import type { PassedThroughDefinition } from './definition.ts';
import { closeWhenQuiet, join, reset } from './join.ts';
import { tcpOptions } from './tcp-options.ts';
import type { Tunnel } from './tunnel.ts';
import { type Upstream, upstreamHost } from './upstream.ts';

export interface PassedThroughParts {
  readonly key: string;
  readonly definition: PassedThroughDefinition;
  readonly upstream: Upstream;
  /** Address to listen on. */
  readonly host: string;
  readonly ticks: Ticks;
  readonly descriptors: Descriptors;
  readonly quietMs: number;
  readonly log: Log;
}

/** A tcp or tls tunnel: a port of its own whose connections are carried byte for byte. */
export class PassedThroughTunnel implements Tunnel {
  readonly key: string;
  readonly definition: PassedThroughDefinition;
  readonly metrics: TunnelMetrics;
  readonly #parts: PassedThroughParts;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #publicURL = '';

  constructor(parts: PassedThroughParts) {
    this.key = parts.key;
    this.definition = parts.definition;
    this.metrics = newTunnelMetrics(parts.ticks);
    this.#parts = parts;
    this.#server = createServer({ allowHalfOpen: true, ...tcpOptions }, (client) => this.#carry(client));
  }

  get publicURL(): string {
    return this.#publicURL;
  }

  /** @throws Error when the port cannot be had. */
  async listen(): Promise<void> {
    const { host, definition, descriptors } = this.#parts;
    if (!descriptors.hasPort) throw new Error(`no port can be had: ${descriptors.shortage}`);
    const at: Listening = await listen(this.#server, { host, port: definition.remote_port ?? 0 });
    descriptors.listens(this.#server);
    this.#publicURL = `${definition.proto}://${at.local}`;
  }

  /** Cuts what is under way. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #carry(client: Socket): void {
    const { descriptors, upstream, quietMs } = this.#parts;
    if (!descriptors.admitPair(client)) {
      reset(client);
      return;
    }
    const { host, port } = upstream;
    const done = this.metrics.conns.begin();
    const local = connect({ host, port, allowHalfOpen: true, ...tcpOptions });
    descriptors.hold(local);
    this.#sockets.add(client).add(local);
    closeWhenQuiet(client, quietMs);
    local.once('error', (error: NodeJS.ErrnoException) => this.#warn(error));
    join(client, local, () => {
      this.#sockets.delete(client);
      this.#sockets.delete(local);
      done();
    });
  }

  #warn(error: NodeJS.ErrnoException): void {
    const { key, upstream, log } = this.#parts;
    const fields = { tunnel: key, addr: upstreamHost(upstream), error: error.code ?? error.message };
    const what = isExhaustion(error) ? 'no file descriptor for a connection' : 'connection';
    log.warn(`${what} to the local server failed`, fields);
  }
}
