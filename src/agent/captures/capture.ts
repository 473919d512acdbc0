import type { Ticks } from '../metrics/rate.ts';
import { lines, Message, pieceOverhead, type RawHeaders } from './message.ts';

export interface RequestHead {
  readonly method: string;
  /** The request target as it was sent. */
  readonly target: string;
  readonly httpVersion: string;
  readonly rawHeaders: RawHeaders;
}

export interface ResponseHead {
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly httpVersion: string;
  readonly rawHeaders: RawHeaders;
}

/** Key and name of the tunnel that carries an exchange. */
export interface CarryingTunnel {
  readonly key: string;
  readonly name: string;
}

export interface CaptureStart {
  readonly tunnel: CarryingTunnel;
  readonly remoteAddr: string;
  readonly request: RequestHead;
  /** The id of the capture that this is a replay of. */
  readonly replayOf?: string | undefined;
}

/** The store that holds the captures, as each of them sees it. */
export interface CaptureStore {
  readonly ticks: Ticks;
  /** Bytes of memory that each of the two bodies may take. */
  readonly bodyCap: number;
  /** Whether there is room for so many more bytes of this capture. */
  charge(capture: Capture, bytes: number): boolean;
  changed(capture: Capture): void;
}

// The objects of a capture, beside its bytes.
const captureOverhead = 1_024;

/** One exchange through an http tunnel, as it happens. */
export class Capture {
  readonly id: string;
  readonly tunnel: CarryingTunnel;
  readonly remoteAddr: string;
  readonly replayOf: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly requestMessage: Message;
  /** Bytes that the store has charged for it. */
  charged = 0;
  readonly #store: CaptureStore;
  readonly #startTicks: number;
  #endTicks: number | undefined;
  #responseMessage: Message | undefined;
  #error: string | undefined;
  #notHeld: string | undefined;
  #evicted = false;

  constructor(
    id: string,
    startedAt: number,
    { tunnel, remoteAddr, request, replayOf }: CaptureStart,
    store: CaptureStore,
  ) {
    this.id = id;
    this.tunnel = tunnel;
    this.remoteAddr = remoteAddr;
    this.replayOf = replayOf;
    this.startedAt = startedAt;
    this.requestMessage = new Message(
      `${request.method} ${request.target} HTTP/${request.httpVersion}`,
      request.rawHeaders,
    );
    this.#store = store;
    this.#startTicks = store.ticks();
  }

  get request(): RequestHead {
    const [method = '', target = '', proto = ''] = this.requestMessage.startLine.split(' ');
    return { method, target, httpVersion: proto.slice('HTTP/'.length), rawHeaders: this.requestMessage.rawHeaders };
  }

  /** Undefined until the local server has answered. */
  get response(): ResponseHead | undefined {
    if (this.#responseMessage === undefined) return undefined;
    const { startLine, rawHeaders } = this.#responseMessage;
    const [proto = '', status, ...message] = startLine.split(' ');
    const httpVersion = proto.slice('HTTP/'.length);
    return { statusCode: Number(status), statusMessage: message.join(' '), httpVersion, rawHeaders };
  }

  /** Undefined until the local server has answered. */
  get responseMessage(): Message | undefined {
    return this.#responseMessage;
  }

  /** Why the exchange ended before its time. */
  get error(): string | undefined {
    return this.#error;
  }

  /** The store holds it no more. */
  get evicted(): boolean {
    return this.#evicted;
  }

  get ended(): boolean {
    return this.#endTicks !== undefined;
  }

  /** Of the exchange; while it goes on, so far. */
  get durationNs(): number {
    return Math.round(((this.#endTicks ?? this.#store.ticks()) - this.#startTicks) * 1e6);
  }

  /** What it costs before any body. */
  get initialBytes(): number {
    return captureOverhead + this.requestMessage.headBytes;
  }

  requestData(chunk: Buffer): void {
    this.#keep(this.requestMessage, chunk);
  }

  requestEnd(trailers: RawHeaders = []): void {
    this.#finish(this.requestMessage, trailers);
  }

  respond({ statusCode, statusMessage, httpVersion, rawHeaders }: ResponseHead): void {
    const message = new Message(`HTTP/${httpVersion} ${statusCode} ${statusMessage}`, rawHeaders);
    if (!this.#store.charge(this, message.headBytes)) {
      this.#notHeld = 'the response does not fit into inspect_db_size';
      return;
    }
    this.#responseMessage = message;
    this.#store.changed(this);
  }

  responseData(chunk: Buffer): void {
    if (this.#responseMessage !== undefined) this.#keep(this.#responseMessage, chunk);
  }

  responseEnd(trailers: RawHeaders = []): void {
    if (this.#responseMessage !== undefined) this.#finish(this.#responseMessage, trailers);
  }

  /** The exchange is over; only the first call counts. */
  end(error?: string): void {
    if (this.ended) return;
    this.#endTicks = this.#store.ticks();
    this.#error = error ?? this.#notHeld;
    this.#store.changed(this);
  }

  /** Its bodies count no more, and go: an exchange that goes on, or a list that is being read, may hold it for long. */
  evict(): void {
    this.#evicted = true;
    this.requestMessage.drop();
    this.#responseMessage?.drop();
  }

  #keep(message: Message, chunk: Buffer): void {
    if (message.truncated) return;
    const kept = Math.min(chunk.length, this.#store.bodyCap - message.bodyCost - pieceOverhead);
    const room = kept > 0 && this.#store.charge(this, kept + pieceOverhead);
    if (room) message.append(kept === chunk.length ? chunk : chunk.subarray(0, kept));
    if (!room || kept < chunk.length) message.truncate();
  }

  #finish(message: Message, trailers: RawHeaders): void {
    if (trailers.length === 0) {
      message.end();
      return;
    }
    const kept = Buffer.from(lines(trailers), 'latin1');
    const room = this.#store.charge(this, kept.length + pieceOverhead);
    if (!room) message.truncate();
    message.end(room ? kept : undefined);
  }
}
