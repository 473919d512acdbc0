import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Descriptors } from '../descriptors/descriptors.ts';
import { DescriptorsExhausted } from '../descriptors/exhausted.ts';
import type { Ticks } from '../metrics/rate.ts';
import { reusableMs, usableMs } from './keep-alive.ts';
import { LocalSocket } from './local-socket.ts';
import { tcpOptions } from './tcp-options.ts';
import type { Upstream } from './upstream.ts';

const mostIdle = 256;
/** TLS sessions that are kept to be resumed, one for each server name. */
const mostSessions = 100;

/** How a request asks for its connection, beside what Node's requests ask. */
export interface Wanted {
  /** Of a local server with TLS: the name that its certificate is to have. */
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
  /** One that is to become something else, and no one else's afterwards. */
  readonly allowHalfOpen?: boolean;
}

export interface ConnectionsParts {
  readonly ticks: Ticks;
  readonly descriptors: Descriptors;
}

interface Connection {
  readonly socket: Socket;
  readonly servername: string | undefined;
  /** Requests that were sent over it. */
  served: number;
  /** How long it may be used again from when it became idle. */
  reusableMs: number;
  idleSince: number;
}

/**
 * The connections to one local server, used again as they become free for as long as the server lets them be. Node's own
 * Agent looks through its connections by server for each request, which was a quarter of the CPU time of a small request.
 */
export class Connections extends Agent {
  readonly #to: Upstream;
  readonly #sockets = new Set<Socket>();
  readonly #idle: Connection[] = [];
  readonly #sessions = new Map<string, Buffer>();
  readonly #waiting = new Set<ClientRequest>();
  readonly #ticks: Ticks;
  readonly #descriptors: Descriptors;
  readonly #forget: () => void;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(to: Upstream, { ticks, descriptors }: ConnectionsParts) {
    super({ keepAlive: true });
    this.#to = to;
    this.#ticks = ticks;
    this.#descriptors = descriptors;
    this.#forget = descriptors.onShortage(() => this.#dropIdle());
  }

  /** What Node's requests ask of their agent: to be given a socket, that which became free last if there is one. */
  addRequest(request: ClientRequest, wanted: Wanted): void {
    const idle = wanted.allowHalfOpen ? undefined : this.#takeIdle(wanted.servername);
    if (idle === undefined) {
      this.#open(request, wanted);
      return;
    }
    request.reusedSocket = true;
    give(request, idle, wanted);
  }

  /** Cuts them all. */
  override destroy(): void {
    this.#forget();
    clearTimeout(this.#sweeping);
    for (const socket of this.#sockets) socket.destroy();
    for (const request of this.#waiting) fail(request, new Error('cut'));
    this.#waiting.clear();
  }

  /** A request waits here while there is no descriptor for its connection. */
  #open(request: ClientRequest, wanted: Wanted): void {
    this.#waiting.add(request);
    const descriptors = this.#descriptors;
    descriptors.open({
      isOver: () => request.destroyed || !this.#waiting.has(request),
      open: () => {
        if (!this.#waiting.delete(request) || request.destroyed) return undefined;
        const connection = this.#connect(wanted);
        give(request, connection, wanted);
        return connection.socket;
      },
      giveUp: () => {
        if (this.#waiting.delete(request)) fail(request, new DescriptorsExhausted(descriptors.shortage));
      },
    });
  }

  #dropIdle(): void {
    for (const { socket } of this.#idle.splice(0)) socket.destroy();
  }

  #takeIdle(servername: string | undefined): Connection | undefined {
    for (;;) {
      const isUsable = (idle: Connection) => idle.servername === servername;
      const at = this.#to.tls ? this.#idle.findLastIndex(isUsable) : this.#idle.length - 1;
      const [idle] = at < 0 ? [] : this.#idle.splice(at, 1);
      if (idle === undefined) return undefined;
      if (this.#isStale(idle)) idle.socket.destroy();
      else if (!idle.socket.destroyed) return idle;
    }
  }

  #connect(wanted: Wanted): Connection {
    const socket = this.#to.tls ? this.#connectTls(wanted) : this.#connectPlain(wanted);
    const connection = { socket, servername: wanted.servername, served: 0, reusableMs: 0, idleSince: 0 };
    this.#sockets.add(socket);
    // An event of Node's requests: the answer is complete, and the connection may be used again.
    socket.on('free', () => this.#keep(connection));
    socket.on('close', () => {
      this.#sockets.delete(socket);
      const at = this.#idle.indexOf(connection);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    // While one is idle nobody else listens; that it closes is all there is to it.
    socket.on('error', () => {});
    return connection;
  }

  #connectPlain({ allowHalfOpen = false }: Wanted): Socket {
    const options = { ...this.#to, ...tcpOptions };
    return allowHalfOpen ? connect({ ...options, allowHalfOpen }) : new LocalSocket(options).connect(options);
  }

  #connectTls({ servername = '', rejectUnauthorized = true, allowHalfOpen = false }: Wanted): Socket {
    const { host, port } = this.#to;
    const session = this.#sessions.get(servername);
    const security = { servername, rejectUnauthorized, ALPNProtocols: ['http/1.1'], ...(session && { session }) };
    const options = { host, port, allowHalfOpen, ...security };
    const socket = connectTls(options).setNoDelay().setKeepAlive(true, tcpOptions.keepAliveInitialDelay);
    socket.on('session', (session) => this.#remember(servername, session));
    socket.on('close', (failed) => failed && this.#sessions.delete(servername));
    return socket;
  }

  #remember(servername: string, session: Buffer): void {
    this.#sessions.delete(servername);
    this.#sessions.set(servername, session);
    const [oldest = servername] = this.#sessions.keys();
    if (this.#sessions.size > mostSessions) this.#sessions.delete(oldest);
  }

  #keep(connection: Connection): void {
    const { socket } = connection;
    const isUseless = !socket.writable || connection.reusableMs === 0;
    if (isUseless || this.#idle.length >= mostIdle || this.#descriptors.isAwaited) {
      socket.destroy();
      return;
    }
    connection.idleSince = this.#ticks();
    this.#idle.push(connection);
    this.#sweeping ??= setTimeout(() => this.#sweep(), usableMs).unref();
  }

  /** Closes those that are not used again any more. One timer for all: requests come by the thousand a second. */
  #sweep(): void {
    const { stale = [], fresh = [] } = Object.groupBy(this.#idle, (idle) => (this.#isStale(idle) ? 'stale' : 'fresh'));
    for (const { socket } of stale) socket.destroy();
    this.#sweeping = fresh.length > 0 ? setTimeout(() => this.#sweep(), usableMs).unref() : undefined;
  }

  #isStale({ idleSince, reusableMs }: Connection): boolean {
    return this.#ticks() - idleSince > reusableMs;
  }
}

function give(request: ClientRequest, connection: Connection, { allowHalfOpen = false }: Wanted): void {
  connection.served += 1;
  // Not before it has answered: a request that was given up may have been sent in part.
  connection.reusableMs = 0;
  if (!allowHalfOpen) {
    request.on('response', ({ rawHeaders }: IncomingMessage) => {
      connection.reusableMs = reusableMs(rawHeaders, connection.served);
    });
  }
  request.onSocket(connection.socket);
}

/** As Node's own agent tells a request that it gets no socket. */
function fail(request: ClientRequest, error: Error): void {
  (request as unknown as { onSocket(socket: undefined, error: Error): void }).onSocket(undefined, error);
}
