import { Agent, type ClientRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Upstream } from './upstream.ts';

const mostIdle = 256;

/**
 * The connections to one local server, used again as they become free. Node's own Agent looks through its connections
 * by server for each request, which was a quarter of the CPU time of a small request.
 */
export class Connections extends Agent {
  readonly #to: Pick<Upstream, 'host' | 'port'>;
  readonly #open = new Set<Socket>();
  readonly #idle: Socket[] = [];

  constructor({ host, port }: Upstream) {
    super({ keepAlive: true });
    this.#to = { host, port };
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
      const socket = this.#idle.pop();
      if (socket === undefined || !socket.destroyed) return socket;
    }
  }

  #connect(): Socket {
    const socket = connect({ ...this.#to, noDelay: true, keepAlive: true });
    this.#open.add(socket);
    // An event of Node's requests: the answer is complete, and the connection may be used again.
    socket.on('free', () => this.#keep(socket));
    socket.on('close', () => {
      this.#open.delete(socket);
      const at = this.#idle.indexOf(socket);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    // While one is idle nobody else listens; that it closes is all there is to it.
    socket.on('error', () => {});
    return socket;
  }

  #keep(socket: Socket): void {
    if (socket.writable && this.#idle.length < mostIdle) this.#idle.push(socket);
    else socket.destroy();
  }
}
