import type { ClientRequest, IncomingMessage, OutgoingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Capture, RequestHead, ResponseHead } from '../captures/capture.ts';
import { pairs, type RawHeaders, valuesOf } from '../captures/message.ts';
import { isExhaustion } from '../descriptors/exhausted.ts';
import { readEarly } from './early.ts';
import { errorPage, type Failure } from './error-page.ts';
import { responseHeaders, withoutTrailer } from './headers.ts';
import { join } from './join.ts';

const connectTimeoutMs = 10_000;
const longestReplayMs = 600_000;
const safeMethods = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

export interface ExchangeParts {
  readonly request: RequestHead;
  /** Begins a request to the local server. */
  readonly dial: () => ClientRequest;
  /** As error pages name it. */
  readonly upstreamName: string;
  /** Whether the tunnel was, which ends every exchange. */
  readonly isStopped: () => boolean;
  readonly capture: Capture | undefined;
  /** Whom to answer; a replay has nobody. */
  readonly client: ServerResponse | undefined;
  /** Called once the answer is complete or has failed. */
  readonly onAnswered: () => void;
}

/** One request on its way to the local server, and the answer on its way back, both as streams. */
export class Exchange {
  readonly #parts: ExchangeParts;
  #upstream: ClientRequest | undefined;
  #answer: IncomingMessage | undefined;
  #joined: readonly Duplex[] = [];
  #over = false;
  /** Of a replay: it has no client that would give up some time. */
  readonly #limit: NodeJS.Timeout | undefined;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    parts.client?.on('drain', () => this.#answer?.resume());
    parts.client?.on('close', () => this.#giveUp('the client closed the connection'));
    if (parts.client === undefined) this.#limit = setTimeout(() => this.#giveUp(tooLong), longestReplayMs).unref();
    this.#send();
  }

  /** Sends the body as it comes in. */
  stream(body: IncomingMessage): void {
    const { request, capture, client } = this.#parts;
    // HTTP/1.0 knows no interim answers.
    if (request.httpVersion !== '1.0') this.#upstream?.on('continue', () => client?.writeContinue());
    this.#upstream?.on('drain', () => body.resume());
    this.#upstream?.on('close', () => body.resume());
    body.on('data', (chunk: Buffer) => {
      capture?.requestData(chunk);
      // What nobody waits for any more is read to its end: the connection can be used again, and all of it be replayed.
      if (!this.#over && this.#upstream?.write(chunk) === false) body.pause();
    });
    body.on('end', () => {
      capture?.requestEnd(body.rawTrailers);
      if (body.rawTrailers.length > 0) this.#upstream?.addTrailers(pairs(body.rawTrailers) as [string, string][]);
      this.#upstream?.end();
    });
    passHeadAlone(body, this.#upstream);
  }

  /** Sends a body that is all there. */
  send(body: Buffer): void {
    const { capture } = this.#parts;
    if (body.length > 0) {
      capture?.requestData(body);
      this.#upstream?.write(body);
    }
    capture?.requestEnd();
    this.#upstream?.end();
  }

  /** Lets an upgraded connection through when the local server agrees to it. */
  upgrade(socket: Duplex, head: Buffer): void {
    const early = readEarly(socket, head);
    // As Node has it of other requests. Afterwards it is one direction that ends.
    socket.once('end', () => this.#joined.length === 0 && socket.end());
    this.#upstream?.on('upgrade', (answer: IncomingMessage, local: Socket, localHead: Buffer) => {
      this.#parts.client?.detachSocket(socket as Socket);
      this.#parts.capture?.respond(headOf(answer));
      socket.write(serialize(headOf(answer)));
      if (localHead.length > 0) socket.write(localHead);
      const sent = early();
      if (sent.length > 0) local.write(sent);
      this.#joined = [socket, local];
      this.#parts.onAnswered();
      join(socket, local, (error) => this.#close(error && this.#reason(error)));
    });
  }

  /** Closes both sides of an upgrade. */
  cut(): void {
    this.#upstream?.destroy(new Error('cut'));
    for (const socket of this.#joined) socket.destroy();
  }

  #send(): void {
    const upstream = this.#begin();
    if (upstream === undefined) return;
    this.#upstream = upstream;
    limitConnecting(upstream);
    upstream.on('information', ({ statusCode, rawHeaders }) => this.#inform(statusCode, rawHeaders));
    upstream.on('response', (answer) => this.#receive(answer));
    upstream.on('error', (error: NodeJS.ErrnoException) => this.#onError(upstream, error));
    upstream.on('close', () => this.#onUpstreamClosed(upstream));
  }

  /** Node throws what it will not write; whoever sent that must not end the agent by it. */
  #begin(): ClientRequest | undefined {
    try {
      return this.#parts.dial();
    } catch (error) {
      this.#refuse(error as Error);
      return undefined;
    }
  }

  #inform(statusCode: number, rawHeaders: readonly string[]): void {
    const { client, request } = this.#parts;
    if (statusCode === 100 || client === undefined || request.httpVersion === '1.0') return;
    client.writeInformation(statusCode, responseHeaders(rawHeaders));
  }

  #receive(answer: IncomingMessage): void {
    const { client, capture } = this.#parts;
    const unwritable = client && (packed(answer) ?? passHead(answer, client));
    if (unwritable !== undefined) {
      answer.destroy();
      this.#refuse(unwritable);
      return;
    }
    this.#answer = answer;
    capture?.respond(headOf(answer));
    answer.on('data', (chunk: Buffer) => {
      capture?.responseData(chunk);
      if (client?.write(chunk) === false) answer.pause();
    });
    answer.on('end', () => {
      capture?.responseEnd(answer.rawTrailers);
      if (answer.rawTrailers.length > 0) client?.addTrailers(pairs(answer.rawTrailers) as [string, string][]);
      client?.end();
      this.#close();
      // The rest of the body is not sent any more, and the next request on that connection would be taken for it.
      if (this.#upstream?.writableFinished === false) this.#upstream.destroy();
    });
    answer.on('error', (error) => this.#cut(error));
    passHeadAlone(answer, client);
  }

  #onError(upstream: ClientRequest, error: NodeJS.ErrnoException): void {
    // An answer that is all there goes on to the client, whatever follows it: a body to HEAD, or a reset.
    if (this.#over || this.#answer?.complete) return;
    if (this.#answer !== undefined) this.#cut(error);
    else if (upstream.reusedSocket && isRepeatable(this.#parts.request) && !this.#parts.isStopped()) this.#sendAgain();
    else this.#refuse(error);
  }

  /** Without an answer and without an error: it changed to another protocol that nobody had asked for. */
  #onUpstreamClosed(upstream: ClientRequest): void {
    const isCurrent = upstream === this.#upstream && this.#joined.length === 0;
    if (isCurrent && this.#answer === undefined && !this.#over)
      this.#refuse(new Error('it changed to another protocol'));
  }

  /** For when the local server closed an idle connection at the very moment that it was used again. */
  #sendAgain(): void {
    this.#send();
    this.#upstream?.end();
  }

  #refuse(error: NodeJS.ErrnoException): void {
    const { request, upstreamName, capture, client } = this.#parts;
    const [accept] = valuesOf(request.rawHeaders, 'accept');
    const { statusCode, what } = this.#parts.isStopped() ? stopped : failureOf(error, upstreamName);
    const { statusMessage, rawHeaders, body } = errorPage(accept, { statusCode, what });
    capture?.respond({ statusCode, statusMessage, httpVersion: '1.1', rawHeaders });
    capture?.responseData(body);
    capture?.responseEnd();
    if (client !== undefined && this.#parts.isStopped()) client.shouldKeepAlive = false;
    client?.writeHead(statusCode, statusMessage, rawHeaders);
    client?.end(body);
    this.#close(this.#reason(error));
  }

  /** The answer has begun, so that its break can only be shown by breaking the connection. */
  #cut(error: NodeJS.ErrnoException): void {
    this.#close(this.#reason(error));
    const { client, request } = this.#parts;
    // An answer to HTTP/1.0 may end with its connection.
    if (request.httpVersion === '1.0') client?.socket?.resetAndDestroy();
    client?.destroy();
  }

  /** Nobody waits for the rest of the answer. */
  #giveUp(why: string): void {
    if (this.#over || this.#joined.length > 0) return;
    this.#close(why);
    this.#upstream?.destroy();
  }

  #reason(error: Error): string {
    if (this.#parts.isStopped()) return 'the tunnel was stopped';
    return isExhaustion(error) ? `no connection to the local server: ${why(error)}` : `local server: ${why(error)}`;
  }

  #close(error?: string): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#limit);
    this.#parts.onAnswered();
    this.#parts.capture?.end(error);
  }
}

export function declaresBody(rawHeaders: RawHeaders): boolean {
  return rawHeaders.some((name, at) => at % 2 === 0 && /^(content-length|transfer-encoding)$/i.test(name));
}

/** What OpenSSL and Node say of a certificate that they do not trust. */
const untrusted: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function why({ code, message }: NodeJS.ErrnoException): string {
  const hint = ' (the tunnel takes any certificate with verify_upstream_tls: false)';
  return `${code ?? message}${untrusted.has(code ?? '') ? hint : ''}`;
}

const isAway = ({ syscall }: NodeJS.ErrnoException): boolean => syscall === 'connect' || syscall === 'getaddrinfo';

const tooLong = `the local server was not done within ${longestReplayMs / 60_000} minutes`;

const stopped: Failure = { statusCode: 502, what: 'The tunnel was stopped.' };

/** Descriptors that are lacking are the agent's own affair. */
function failureOf(error: Error, upstreamName: string): Failure {
  if (isExhaustion(error)) {
    return { statusCode: 503, what: `The agent can open no connection to the local server: ${why(error)}.` };
  }
  const what = isAway(error) ? 'cannot be reached' : 'gave no answer that can be passed on';
  return { statusCode: 502, what: `The local server at ${upstreamName} ${what}: ${why(error)}.` };
}

/** Whether it may be sent twice (RFC 9110, section 9.2.1), and nothing of it is used up. */
function isRepeatable({ method, rawHeaders }: RequestHead): boolean {
  return safeMethods.includes(method) && !declaresBody(rawHeaders);
}

/** Chunks are taken off and put on again: what is packed inside them would go on as if it were not. */
function packed({ headers }: IncomingMessage): Error | undefined {
  const isPlain = /^(chunked|identity)$/i.test(headers['transfer-encoding'] ?? 'identity');
  return isPlain ? undefined : new Error('it has a transfer coding other than chunked');
}

/** What Node says when it will not write what it has read: control characters in the status message, a status below 100. */
function passHead(
  answer: IncomingMessage,
  client: ServerResponse,
  headers = responseHeaders(answer.rawHeaders),
): Error | undefined {
  client.sendDate = false;
  try {
    client.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // What goes on without chunks (to HEAD, 304, of a length, to HTTP/1.0) has no trailers that could be announced.
    if (code === 'ERR_HTTP_TRAILER_INVALID') return passHead(answer, client, withoutTrailer(headers));
    // Without its code, which would not say where in the answer that is.
    return new Error(message);
  }
}

/** Node keeps a head back until some of its body follows, which may wait for an answer to the head, or for an event. */
function passHeadAlone(message: IncomingMessage, onward: OutgoingMessage | undefined): void {
  // By then what came along with the head was passed on in one piece with it.
  process.nextTick(() => {
    if (!message.readableDidRead && !message.complete) onward?.flushHeaders();
  });
}

function headOf(answer: IncomingMessage): ResponseHead {
  const { statusCode = 502, statusMessage = '', httpVersion, rawHeaders } = answer;
  return { statusCode, statusMessage, httpVersion, rawHeaders };
}

function serialize({ statusCode, statusMessage, rawHeaders }: ResponseHead): Buffer {
  const lines = pairs(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`, 'latin1');
}

function limitConnecting(upstream: ClientRequest): void {
  upstream.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = Object.assign(new Error(`no connection within ${connectTimeoutMs / 1_000} s`), { syscall: 'connect' });
    const give = () => upstream.destroy(late);
    const timer = setTimeout(give, connectTimeoutMs);
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer));
  });
}
