import type { Ticks } from '../metrics/rate.ts';
import { Message, type RawHeaders } from './message.ts';

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

export interface CaptureStart {
  readonly tunnel: { readonly key: string; readonly name: string };
  readonly remoteAddr: string;
  readonly request: RequestHead;
  /** The capture that this is a replay of. */
  readonly replayOf?: string;
}

/** What a capture asks of the store that holds it. */
export interface Ledger {
  /** Whether there is room for so many more bytes of this capture. */
  charge(capture: Capture, bytes: number): boolean;
  changed(capture: Capture): void;
}

export interface CaptureOptions {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ticks: Ticks;
  readonly ledger: Ledger;
  /** Bytes kept of each of the two bodies. */
  readonly bodyCap: number;
}

// A buffer and its place in an array, beside its bytes.
const chunkOverhead = 96;
// The objects of a capture, beside its text.
const captureOverhead = 2_048;

/** One exchange through an http tunnel, as it happens. */
export class Capture {
  readonly start: CaptureStart;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly requestMessage: Message;
  readonly #options: CaptureOptions;
  readonly #startTicks: number;
  #endTicks: number | undefined;
  #response: { readonly head: ResponseHead; readonly message: Message } | undefined;
  #error: string | undefined;

  constructor(start: CaptureStart, options: CaptureOptions) {
    const { method, target, httpVersion, rawHeaders } = start.request;
    this.start = start;
    this.id = options.id;
    this.startedAt = options.startedAt;
    this.requestMessage = new Message(`${method} ${target} HTTP/${httpVersion}`, rawHeaders);
    this.#options = options;
    this.#startTicks = options.ticks();
  }

  /** Undefined until the local server has answered. */
  get response(): { readonly head: ResponseHead; readonly message: Message } | undefined {
    return this.#response;
  }

  /** Why the exchange ended before its time. */
  get error(): string | undefined {
    return this.#error;
  }

  get ended(): boolean {
    return this.#endTicks !== undefined;
  }

  /** Of the exchange; while it goes on, so far. */
  get durationNs(): number {
    return Math.round(((this.#endTicks ?? this.#options.ticks()) - this.#startTicks) * 1e6);
  }

  requestData(chunk: Buffer): void {
    this.#keep(this.requestMessage, chunk);
  }

  requestEnd(trailers?: RawHeaders): void {
    this.requestMessage.end(trailers);
  }

  respond(head: ResponseHead): void {
    if (!this.#options.ledger.charge(this, headBytes(head.rawHeaders))) return;
    const startLine = `HTTP/${head.httpVersion} ${head.statusCode} ${head.statusMessage}`;
    this.#response = { head, message: new Message(startLine, head.rawHeaders) };
    this.#options.ledger.changed(this);
  }

  responseData(chunk: Buffer): void {
    if (this.#response !== undefined) this.#keep(this.#response.message, chunk);
  }

  responseEnd(trailers?: RawHeaders): void {
    this.#response?.message.end(trailers);
  }

  /** The exchange is over; only the first call counts. */
  end(error?: string): void {
    if (this.ended) return;
    this.#endTicks = this.#options.ticks();
    this.#error = error;
    this.#options.ledger.changed(this);
  }

  #keep(message: Message, chunk: Buffer): void {
    if (message.truncated) return;
    const { bodyCap, ledger } = this.#options;
    const kept = Math.min(chunk.length, bodyCap - message.bodyBytes);
    const room = ledger.charge(this, kept + chunkOverhead);
    // A copy: a chunk is a piece of a larger buffer, all of which it would keep in memory.
    if (room && kept > 0) message.append(Buffer.from(chunk.subarray(0, kept)));
    if (!room || kept < chunk.length) message.truncate();
  }
}

/** What a capture costs before any body. */
export function initialBytes({ request }: CaptureStart): number {
  return captureOverhead + request.target.length + headBytes(request.rawHeaders);
}

function headBytes(headers: RawHeaders): number {
  return headers.reduce((sum, text) => sum + text.length, 0);
}
