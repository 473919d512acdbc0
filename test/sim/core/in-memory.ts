import { EventEmitter } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ServerRequest } from './server.ts';

/** A request as a server of Node's reads it, from nowhere. */
class MemoryRequest extends Readable {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly aborted = false;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly socket = Object.assign(new EventEmitter(), { remoteAddress: '127.0.0.1' });
  #body: string | undefined;

  constructor(host: string, { method, path, headers, body }: ServerRequest) {
    super({ autoDestroy: false });
    this.method = method;
    this.url = path;
    this.#body = body;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    this.headers = { 'user-agent': 'sim', host, ...headers, ...length };
    this.rawHeaders = Object.entries(this.headers).flat();
  }

  override _read(): void {
    if (this.#body !== undefined) this.push(this.#body);
    this.#body = undefined;
    this.push(null);
  }
}

export const memoryRequest = (host: string, request: ServerRequest): IncomingMessage =>
  new MemoryRequest(host, request) as unknown as IncomingMessage;

export interface Reader {
  readonly onHead: () => void;
  readonly onData: (text: string) => void;
  /** Once, however it ended: also where it never began. */
  readonly onEnd: () => void;
}

/** An answer that goes to a reader instead of a socket: without its rendering, and without waiting. */
export class MemoryResponse extends ServerResponse {
  readonly #reader: Reader;
  readonly #decoder = new StringDecoder('utf8');

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
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk as Buffer);
    if (text !== '') this.#reader.onData(text);
    return true;
  }

  override end(chunk?: unknown): this {
    if (this.finished) return this;
    this.#begin();
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function' && chunk !== '') this.write(chunk);
    this.finished = true;
    this.emit('finish');
    return this.destroy();
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    process.nextTick(() => {
      if (error !== undefined && this.listenerCount('error') > 0) this.emit('error', error);
      this.emit('close');
      this.#reader.onEnd();
    });
    return this;
  }

  #begin(): void {
    if (this.headersSent) return;
    // What `headersSent` looks at.
    (this as unknown as { _header: string })._header = 'sent';
    this.#reader.onHead();
  }
}
