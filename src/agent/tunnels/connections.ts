import { Agent, type ClientRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Ticks } from '../metrics/rate.ts';
import type { Upstream } from './upstream.ts';

const mostIdle = 256;
/** Servers close idle connections after 2 s and more: one that is just being closed would cost a request. */
const usableMs = 1_500;

interface Idle {
  readonly socket: Socket;
  readonly since: number;
}

/**
 * The connections to one local server, used again as they become free. Node's own Agent looks through its connections
 * by server for each request, which was a quarter of the CPU time of a small request.
 */
export class Connections extends Agent {
  readonly #to: Pick<Upstream, 'host' | 'port'>;
  readonly #open = new Set<Socket>();
  readonly #idle: Idle[] = [];
  readonly #ticks: Ticks;

  constructor({ host, port }: Upstream, ticks: Ticks) {
    super({ keepAlive: true });
    this.#to = { host, port };
    this.#ticks = ticks;
  }

  /** What Node's requests ask of their agent: to be given a socket, that which became free last if there is one. */
  addRequest(request: ClientRequest): void {
    const socket = this.#takeIdle();
    if (socket !== undefined) request.reusedSocket = true;
    request.onSocket(socket ?? this.#connect());
  }

  /** Cuts them all. */
  override destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #takeIdle(): Socket | undefined {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) return undefined;
      if (this.#ticks() - idle.since > usableMs) idle.socket.destroy();
      else if (!idle.socket.destroyed) return idle.socket;
    }
  }

  #connect(): Socket {
    const socket = connect({ ...this.#to, noDelay: true, keepAlive: true });
    this.#open.add(socket);
    // An event of Node's requests: the answer is complete, and the connection may be used again.
    socket.on('free', () => this.#keep(socket));
    socket.on('close', () => {
      this.#open.delete(socket);
      const at = this.#idle.findIndex((idle) => idle.socket === socket);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    // While one is idle nobody else listens; that it closes is all there is to it.
    socket.on('error', () => {});
    return socket;
  }

  #keep(socket: Socket): void {
    if (socket.writable && this.#idle.length < mostIdle) this.#idle.push({ socket, since: this.#ticks() });
    else socket.destroy();
  }
}
