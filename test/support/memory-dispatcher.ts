import type { IncomingHttpHeaders } from 'node:http';
import { Dispatcher, errors } from 'undici';
import type { Clock } from '../../src/common/clock.ts';
import type { Listener } from '../../src/common/dated.ts';
import { systemRuntime } from '../../src/common/runtime.ts';
import { MemoryResponse, memoryRequest, type SentMessage } from './memory-message.ts';

/**
 * Carries requests to listeners within this process, by their origin: no socket, no name, no certificate. What servers
 * write arrives as they write it; what they cut, or the client gives up, ends on both sides.
 */
export class MemoryDispatcher extends Dispatcher {
  readonly #listeners: ReadonlyMap<string, Listener>;
  readonly #clock: Clock;
  readonly #calls = new Set<Call>();
  #isClosed = false;

  /** The clock is for the timeouts of requests. */
  constructor(listeners: ReadonlyMap<string, Listener>, clock: Clock = systemRuntime.monotonic) {
    super();
    this.#listeners = listeners;
    this.#clock = clock;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#isClosed) throw new errors.ClientClosedError();
    const origin = String(options.origin);
    const call = new Call(options, handler, this.#clock);
    this.#calls.add(call);
    void call.run(origin, this.#listeners.get(origin)).finally(() => this.#calls.delete(call));
    return true;
  }

  /** Waits for what is under way. */
  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback: () => void = () => {}): Promise<void> {
    this.#isClosed = true;
    return Promise.all([...this.#calls].map(({ ended }) => ended)).then(callback);
  }

  override destroy(...given: readonly unknown[]): Promise<void> {
    const [error] = given.filter((each) => each instanceof Error);
    for (const call of this.#calls) call.abort(error ?? new errors.ClientDestroyedError());
    return this.close().then(() => given.find((each) => typeof each === 'function')?.());
  }
}

/** One request, and the controller by which its client holds it. */
class Call implements Dispatcher.DispatchController {
  readonly ended: Promise<void>;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #clock: Clock;
  readonly #settle: () => void;
  rawHeaders: IncomingHttpHeaders | null = null;
  paused = false;
  reason: Error | null = null;
  #isOver = false;
  #response: MemoryResponse | undefined;
  /** What arrived and is not delivered yet, oldest first. */
  readonly #waiting: (() => void)[] = [];
  #late: AbortController | undefined;

  constructor(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, clock: Clock) {
    this.#options = options;
    this.#handler = handler;
    this.#clock = clock;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#settle = resolve;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  async run(origin: string, listener: Listener | undefined): Promise<void> {
    this.#handler.onRequestStart?.(this, {});
    try {
      // As on a network, nothing is there before the caller has gone on.
      const payload = await bodyOf(this.#options.body);
      if (this.#isOver) return;
      if (listener === undefined) throw refused(origin);
      this.#waitFor(this.#options.headersTimeout, () => new errors.HeadersTimeoutError());
      this.#send(origin, payload, listener);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
    return this.ended;
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.reason = reason;
    this.#fail(reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#deliver();
  }

  #send(origin: string, body: Buffer | undefined, listener: Listener): void {
    const { method, path } = this.#options;
    const headers = { host: new URL(origin).host, ...headersOf(this.#options.headers) };
    const request = memoryRequest({ method, path, headers, body });
    const { bodyTimeout } = this.#options;
    const waiting = () => this.#waitFor(bodyTimeout, () => new errors.BodyTimeoutError());
    const response = new MemoryResponse(request, {
      onHead: () => {
        waiting();
        this.rawHeaders = response.getHeaders() as IncomingHttpHeaders;
        const { statusCode, statusMessage } = response;
        this.#handler.onResponseStart?.(this, statusCode, this.rawHeaders, statusMessage);
      },
      onData: (chunk) => {
        waiting();
        this.#later(() => this.#handler.onResponseData?.(this, Buffer.from(chunk as string)));
      },
      onEnd: (isWhole, error) => {
        // A connection that the server cuts is lost at once, whatever was on its way.
        if (!isWhole) this.#fail(error ?? new errors.SocketError('other side closed'));
        this.#later(() => this.#end(() => this.#handler.onResponseEnd?.(this, {})));
      },
    });
    this.#response = response;
    listener(request, response);
  }

  #later(deliver: () => void): void {
    this.#waiting.push(deliver);
    this.#deliver();
  }

  #deliver(): void {
    while (!this.paused && !this.#isOver) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next();
    }
  }

  /** 0 is forever. */
  #waitFor(ms: number | null | undefined, error: () => Error): void {
    this.#late?.abort();
    if (!ms) return;
    this.#late = new AbortController();
    const { signal } = this.#late;
    this.#clock.sleep(ms, signal).then(
      () => signal.aborted || this.#fail(error()),
      () => {},
    );
  }

  #fail(error: Error): void {
    this.#end(() => this.#handler.onResponseError?.(this, error));
  }

  /** Once; and the server sees its client go, if it has not ended its answer. */
  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#late?.abort();
    this.#response?.destroy();
    this.#settle();
    tell();
  }
}

async function bodyOf(body: Dispatcher.DispatchOptions['body']): Promise<Buffer | undefined> {
  if (body === null || body === undefined) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body);
  if (!(Symbol.asyncIterator in body)) throw new errors.NotSupportedError('a body of this type');
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as AsyncIterable<Uint8Array | string>) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function headersOf(headers: Dispatcher.DispatchOptions['headers']): SentMessage['headers'] {
  if (headers === null || headers === undefined) return {};
  const entries = Array.isArray(headers)
    ? inPairs(headers)
    : Symbol.iterator in headers
      ? [...headers]
      : Object.entries(headers);
  const given = entries.filter((entry): entry is [string, string | string[]] => entry[1] !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value]));
}

/** Names and values in turn. */
function inPairs(headers: readonly string[]): [string, string | undefined][] {
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]]] : []));
}

/** What undici says of a server that is not there. */
function refused(origin: string): Error {
  return Object.assign(new Error(`connect ECONNREFUSED ${origin}`), { code: 'ECONNREFUSED', syscall: 'connect' });
}
