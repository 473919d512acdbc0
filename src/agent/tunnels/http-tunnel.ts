import { type ClientRequest, type IncomingMessage, type RequestOptions, request, ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Capture, CarryingTunnel, RequestHead } from '../captures/capture.ts';
import type { Captures } from '../captures/captures.ts';
import { valuesOf } from '../captures/message.ts';
import type { History } from '../metrics/history.ts';
import { newTunnelMetrics, type TunnelMetrics } from '../metrics/tunnel-metrics.ts';
import { Connections, type ConnectionsParts, type Wanted } from './connections.ts';
import type { HttpDefinition } from './definition.ts';
import { declaresBody, Exchange } from './exchange.ts';
import { type ForwardOptions, requestHeaders } from './headers.ts';
import { closeWhenQuiet } from './join.ts';
import { originForm } from './origin-form.ts';
import type { Replay, Tunnel } from './tunnel.ts';
import { type Upstream, upstreamHost } from './upstream.ts';

export interface HttpTunnelParts extends ConnectionsParts {
  /** Last segment of its `uri`. */
  readonly key: string;
  readonly definition: HttpDefinition;
  readonly upstream: Upstream;
  readonly publicURL: string;
  readonly captures: Captures;
  readonly history: History;
  /** How long an upgraded connection may carry nothing either way. */
  readonly quietMs: number;
}

const noBody = Buffer.alloc(0);

interface Turn {
  readonly head: RequestHead;
  readonly remoteAddr: string;
  readonly upgrade?: string | undefined;
  readonly capture: Capture | undefined;
  readonly client: ServerResponse | undefined;
  readonly onAnswered: () => void;
}

/** Largest head of a message, both ways. Its headers are not counted: Node leaves out what is beyond a thousand. */
export const maxHeaderBytes = 65_536;

/** A streaming reverse proxy in front of one local HTTP server. */
export class HttpTunnel implements Tunnel {
  readonly key: string;
  readonly definition: HttpDefinition;
  readonly publicURL: string;
  readonly metrics: TunnelMetrics;
  readonly #parts: HttpTunnelParts;
  readonly #connections: Connections;
  readonly #carrying: CarryingTunnel;
  readonly #upgraded = new Set<Exchange>();
  #stopped = false;

  constructor(parts: HttpTunnelParts) {
    const { key, definition, publicURL, upstream, ticks } = parts;
    this.key = key;
    this.definition = definition;
    this.publicURL = publicURL;
    this.metrics = newTunnelMetrics(ticks);
    this.#parts = parts;
    this.#carrying = { key, name: definition.name };
    this.#connections = new Connections(upstream, parts);
  }

  serve(request: IncomingMessage, client: ServerResponse): void {
    const exchange = this.#visit(request, client);
    if (declaresBody(request.rawHeaders)) exchange.stream(request);
    else exchange.send(noBody);
  }

  /** `head` is what followed the request on its connection. */
  serveUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const exchange = this.#visit(request, responseOn(socket, request), request.headers.upgrade);
    this.#upgraded.add(exchange);
    socket.once('close', () => this.#upgraded.delete(exchange));
    closeWhenQuiet(socket, this.#parts.quietMs);
    exchange.upgrade(socket as Duplex, head);
    exchange.send(noBody);
  }

  replay({ of, remoteAddr, request, body }: Replay): Capture | undefined {
    const capture = this.#capture(request, remoteAddr, of);
    this.#exchange({ head: request, remoteAddr, capture, client: undefined, onAnswered: () => {} }).send(body);
    return capture;
  }

  /** Cuts what is under way. */
  close(): void {
    this.#stopped = true;
    this.#connections.destroy();
    for (const exchange of this.#upgraded) exchange.cut();
  }

  #visit(request: IncomingMessage, client: ServerResponse, upgrade?: string): Exchange {
    const head = requestHead(request);
    // An address of IPv4, where the edge listens on IPv6.
    const remoteAddr = (request.socket.remoteAddress ?? '').replace(/^::ffff:(?=[\d.]+$)/, '');
    const capture = this.#capture(head, remoteAddr);
    const start = this.#parts.ticks();
    const done = this.metrics.http.begin();
    const onAnswered = () => {
      done();
      this.#parts.history.record((this.#parts.ticks() - start) * 1e6);
    };
    return this.#exchange({ head, remoteAddr, capture, client, upgrade, onAnswered });
  }

  #capture(request: RequestHead, remoteAddr: string, replayOf?: string): Capture | undefined {
    if (!this.definition.inspect) return undefined;
    return this.#parts.captures.begin({ tunnel: this.#carrying, remoteAddr, request, replayOf });
  }

  #exchange({ head, remoteAddr, upgrade, capture, client, onAnswered }: Turn): Exchange {
    const options = { method: head.method, remoteAddr, upgrade, host: this.#hostHeader() };
    return new Exchange({
      request: head,
      dial: () => this.#dial(head, options),
      upstreamName: upstreamHost(this.#parts.upstream),
      isStopped: () => this.#stopped,
      capture,
      client,
      onAnswered,
    });
  }

  #hostHeader(): string | undefined {
    const wanted = this.definition.host_header;
    if (wanted === 'rewrite') return upstreamHost(this.#parts.upstream);
    return wanted === 'preserve' ? undefined : wanted;
  }

  #dial(received: RequestHead, options: ForwardOptions): ClientRequest {
    const head = originForm(received);
    const wanted: Wanted = { ...this.#tlsOptions(head), allowHalfOpen: options.upgrade !== undefined };
    const sent: RequestOptions & Wanted = {
      method: head.method,
      path: head.target,
      headers: requestHeaders(head.rawHeaders, options),
      setHost: false,
      agent: this.#connections,
      maxHeaderSize: maxHeaderBytes,
      ...wanted,
    };
    return Object.assign(request(sent), { maxHeadersCount: 0 });
  }

  #tlsOptions(head: RequestHead): Wanted {
    if (!this.#parts.upstream.tls) return {};
    const host = this.#hostHeader() ?? valuesOf(head.rawHeaders, 'host')[0] ?? '';
    const wanted = this.#parts.upstream.host;
    const name = this.definition.host_header === undefined ? wanted : host.replace(/:\d+$/, '');
    return {
      // An address is no name to be asked for (RFC 6066, section 3): the certificate is to be for where it connects to.
      servername: isIP(name.replace(/^\[(.*)\]$/, '$1')) === 0 ? name : '',
      rejectUnauthorized: this.definition.verify_upstream_tls ?? true,
    };
  }
}

function requestHead({ method = 'GET', url = '/', httpVersion, rawHeaders }: IncomingMessage): RequestHead {
  return { method, target: url, httpVersion, rawHeaders };
}

/** For a request that asked for an upgrade and may yet get an ordinary answer: the last on its connection. */
export function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // Node takes its own listener off what it hands over.
  socket.on('drain', () => response.emit('drain'));
  response.on('finish', () => socket.destroySoon());
  return response;
}
