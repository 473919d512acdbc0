import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingerMs, type ServerTimeouts, serverTimeouts } from '../../common/http-server/timeouts.ts';
import { type Address, listen } from '../../common/listen.ts';
import type { Descriptors } from '../descriptors/descriptors.ts';
import { guard } from '../descriptors/door.ts';
import { errorPage, type Failure, plainPage } from './error-page.ts';
import { type HttpTunnel, maxHeaderBytes, responseOn } from './http-tunnel.ts';
import { malformation } from './malformed.ts';
import { hostOf } from './origin-form.ts';
import { tcpOptions } from './tcp-options.ts';
import { asksForUpgrade } from './upgrade.ts';

const domain = 'localhost';

/** The port that all http tunnels share; they are told apart by host name, `<label>.localhost`. */
export class Edge {
  readonly #server: Server;
  readonly #tunnels = new Map<string, HttpTunnel>();
  /** The connections that brought requests to each. */
  readonly #visitors = new WeakMap<HttpTunnel, Set<Socket>>();
  /** Each is cut by its tunnel, whichever others it visited before. */
  readonly #upgraded = new WeakSet<Socket>();
  /** Answers that are not whole yet. */
  readonly #owed = new Set<ServerResponse>();
  #isClosing = false;
  readonly #descriptors: Descriptors;
  readonly #dismissAll: () => void;
  #address: Address = { host: '127.0.0.1', port: 0 };
  #url = '';

  constructor(descriptors: Descriptors, timeouts: ServerTimeouts) {
    this.#descriptors = descriptors;
    this.#server = createServer({
      ...serverTimeouts(timeouts),
      maxHeaderSize: maxHeaderBytes,
      optimizeEmptyRequests: true,
      shouldUpgradeCallback: isUpgrade,
      ...tcpOptions,
    });
    this.#server.maxHeadersCount = 0;
    this.#server.timeout = timeouts.quietMs;
    this.#dismissAll = guard(this.#server, {
      descriptors,
      admit: (client) => descriptors.admitClient(client),
      refused: () =>
        plainPage({ statusCode: 503, what: `The agent can take no further connection: ${descriptors.shortage}.` }),
    });
    const serve = (request: IncomingMessage, response: ServerResponse) => this.#serve(request, response);
    this.#server.on('request', serve).on('checkContinue', serve);
    this.#server.on('connect', (request, socket) => refuseConnect(request, socket as Socket));
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
  }

  get url(): string {
    return this.#url;
  }

  get address(): Address {
    return this.#address;
  }

  /** @throws Error naming the address when it cannot be had. */
  async listen(address: Address): Promise<void> {
    const at = await listen(this.#server, address);
    this.#address = { host: at.host, port: at.port };
    this.#url = `http://${at.local}`;
  }

  has(label: string): boolean {
    return this.#tunnels.has(label);
  }

  publicURL(label: string): string {
    return `http://${label}.${domain}:${this.#address.port}`;
  }

  add(label: string, tunnel: HttpTunnel): void {
    this.#tunnels.set(label, tunnel);
    this.#visitors.set(tunnel, new Set());
  }

  /** Closes the idle connections of its visitors, too. */
  remove(label: string): void {
    for (const socket of this.#visitorsOf(this.#tunnels.get(label))) {
      if (!isOwed(socket) && !this.#upgraded.has(socket)) socket.destroy();
    }
    this.#tunnels.delete(label);
  }

  /** Takes no further connection, and for up to so many milliseconds lets answers end that are under way. */
  async drain(patienceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#server.close();
    // Node closes a connection behind the first answer that says so: of several it is to be the last.
    const last = new Map([...this.#owed].map((response) => [response.req.socket, response]));
    for (const response of last.values()) response.shouldKeepAlive = false;
    const signal = AbortSignal.timeout(patienceMs);
    while (this.#owed.size > 0 && !signal.aborted) {
      await Promise.allSettled([...this.#owed].map((response) => once(response, 'close', { signal })));
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    this.#dismissAll();
    await closed;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const tunnel = this.#tunnelOf(request);
    if (tunnel === undefined) {
      refuse(request, response);
      return;
    }
    this.#owed.add(response);
    response.once('close', () => this.#owed.delete(response));
    if (this.#isClosing || this.#descriptors.isCrowded) response.shouldKeepAlive = false;
    this.#count(request.socket, tunnel);
    tunnel.serve(request, response);
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const tunnel = this.#tunnelOf(request);
    socket.on('error', () => socket.destroy());
    if (tunnel === undefined) {
      refuse(request, responseOn(socket, request));
      return;
    }
    this.#count(socket, tunnel);
    this.#upgraded.add(socket);
    tunnel.serveUpgrade(request, socket, head);
  }

  #tunnelOf(request: IncomingMessage): HttpTunnel | undefined {
    if (malformation(request) !== undefined) return undefined;
    const { url = '', headers } = request;
    const host = hostOf(url, headers.host)?.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
    return host?.endsWith(`.${domain}`) ? this.#tunnels.get(host.slice(0, -domain.length - 1)) : undefined;
  }

  /** A connection counts once for each tunnel that it brings a request to. */
  #count(socket: Socket, tunnel: HttpTunnel): void {
    const visitors = this.#visitorsOf(tunnel);
    if (visitors.has(socket)) return;
    visitors.add(socket);
    const done = tunnel.metrics.conns.begin();
    socket.once('close', () => {
      visitors.delete(socket);
      done();
    });
  }

  #visitorsOf(tunnel: HttpTunnel | undefined): Set<Socket> {
    return (tunnel && this.#visitors.get(tunnel)) ?? new Set();
  }
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const failure = failureOf(request);
  const { statusMessage, rawHeaders, body } = errorPage(request.headers.accept, failure);
  // What follows a request that is in doubt may be a part of it.
  if (failure.statusCode !== 404) response.shouldKeepAlive = false;
  response.writeHead(failure.statusCode, statusMessage, rawHeaders);
  request.resume();
  // Of a body in chunks that are in doubt, Node itself may stop to read at once.
  if (request.headers['content-length'] === undefined) response.end(body);
  else endOnceRead(response, body, request);
}

/** The client has all of the answer at once, and its connection stays until it has sent all of the request. */
function endOnceRead(response: ServerResponse, body: Buffer, request: IncomingMessage): void {
  response.write(body);
  const timer = setTimeout(() => response.end(), lingerMs);
  request.once('close', () => {
    clearTimeout(timer);
    response.end();
  });
}

/** It comes at once, even where another answer is owed on its connection. */
function refuseConnect(request: IncomingMessage, socket: Socket): void {
  socket.on('error', () => socket.destroy());
  if (isOwed(socket)) socket.destroy();
  else refuse(request, responseOn(socket, request));
}

function failureOf(request: IncomingMessage): Failure {
  if (request.method === 'CONNECT') return { statusCode: 405, what: 'A tunnel is no proxy for CONNECT.' };
  const what = malformation(request);
  if (what !== undefined) return { statusCode: 400, what };
  const host = hostOf(request.url ?? '', request.headers.host) ?? '';
  return { statusCode: 404, what: `No tunnel is running for the host "${host}".` };
}

/** A connection that owes another answer is not free to change. */
function isUpgrade({ rawHeaders, socket }: IncomingMessage): boolean {
  return !isOwed(socket) && asksForUpgrade(rawHeaders);
}

/** Whether an answer is yet to be given on it, or a part of one. */
function isOwed(socket: Socket): boolean {
  const { _httpMessage: owed } = socket as { readonly _httpMessage?: ServerResponse | null };
  return Boolean(owed);
}
