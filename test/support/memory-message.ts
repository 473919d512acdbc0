import { EventEmitter } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

export interface SentMessage {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array | undefined;
}

/** A request as a server of Node's reads it, from nowhere. */
class MemoryRequest extends Readable {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly aborted = false;
  readonly method: string;
  readonly url: string;
  readonly headers: SentMessage['headers'];
  readonly socket = Object.assign(new EventEmitter(), { remoteAddress: '127.0.0.1' });
  #body: SentMessage['body'];

  constructor({ method, path, headers, body }: SentMessage) {
    super({ autoDestroy: false });
    this.method = method;
    this.url = path;
    this.#body = body;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    this.headers = { ...headers, ...length };
  }

  get rawHeaders(): readonly string[] {
    return Object.entries(this.headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
  }

  override _read(): void {
    if (this.#body !== undefined) this.push(this.#body);
    this.#body = undefined;
    this.push(null);
  }
}

export const memoryRequest = (sent: SentMessage): IncomingMessage =>
  new MemoryRequest(sent) as unknown as IncomingMessage;

export interface Reader {
  readonly onHead: () => void;
  readonly onData: (chunk: string | Uint8Array) => void;
  /** Once: whole, or cut, where the server says why with an error; also where it never began. */
  readonly onEnd: (isWhole: boolean, error?: Error) => void;
}

/** An answer that goes to a reader instead of a socket: without its rendering, and without waiting. */
export class MemoryResponse extends ServerResponse {
  readonly #reader: Reader;

  constructor(request: IncomingMessage, reader: Reader) {
    super(request);
    this.#reader = reader;
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    this.statusCode = status;
    const headers = rest.findLast((each) => typeof each === 'object' && each !== null) ?? {};
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value as string);
    this.#begin();
    return this;
  }

  override flushHeaders(): void {
    this.#begin();
  }

  override write(chunk: unknown): boolean {
    this.#begin();
    if (this.destroyed) return false;
    if (this.req.method !== 'HEAD') this.#reader.onData(chunk as string | Uint8Array);
    return true;
  }

  override end(chunk?: unknown): this {
    if (this.finished || this.destroyed) return this;
    this.#begin();
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function' && chunk !== '') this.write(chunk);
    this.finished = true;
    this.emit('finish');
    return this.destroy();
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    const isWhole = this.finished;
    process.nextTick(() => {
      if (error !== undefined && this.listenerCount('error') > 0) this.emit('error', error);
      this.emit('close');
      this.#reader.onEnd(isWhole, error);
    });
    return this;
  }

  #begin(): void {
    if (this.headersSent || this.destroyed) return;
    // What `headersSent` looks at.
    (this as unknown as { _header: string })._header = 'sent';
    this.#reader.onHead();
  }
}
