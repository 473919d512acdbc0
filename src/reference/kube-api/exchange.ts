import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from './api-error.ts';

const maxBodyBytes = 3 * 1024 * 1024;

/** One request and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;

  constructor(request: IncomingMessage, response: ServerResponse) {
    // As a path whatever it is: two slashes would begin a host, of which not every text is one.
    const path = (request.url ?? '').replace(/^(https?:\/\/[^/?#]*)?\/*/i, '');
    const url = new URL(`http://localhost/${path}`);
    this.request = request;
    this.response = response;
    this.method = request.method ?? 'GET';
    this.path = url.pathname;
    this.query = url.searchParams;
  }

  header(name: string): string {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(',') : (value ?? '');
  }

  /** Of the body, without parameters; empty when the request names none. */
  get mediaType(): string {
    return this.header('content-type').split(';')[0]?.trim() ?? '';
  }

  /** The body as text. Throws 413 beyond 3 MiB. */
  async text(): Promise<string> {
    return (await this.body()).toString();
  }

  /** The body as it came. Throws 413 beyond 3 MiB. */
  body(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    return new Promise((resolve, reject) => {
      this.request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxBodyBytes) chunks.push(chunk);
        else reject(new ApiError(413, 'RequestEntityTooLarge', `limit is ${maxBodyBytes}`));
      });
      this.request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
      this.request.on('error', reject);
    });
  }

  /** Warning headers of the answer, as `kubectl` prints them. */
  warn(text: string): void {
    this.response.appendHeader('Warning', `299 - ${JSON.stringify(text)}`);
  }

  json(code: number, value: unknown, contentType = 'application/json'): void {
    this.send(code, JSON.stringify(value), contentType);
  }

  /** JSON text. */
  send(code: number, text: string, contentType = 'application/json'): void {
    const body = `${text}\n`;
    this.response.writeHead(code, {
      'Content-Type': contentType,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-cache, private',
    });
    this.response.end(body);
  }

  plain(code: number, body: string | Uint8Array, contentType = 'text/plain; charset=utf-8'): void {
    this.response.writeHead(code, { 'Content-Type': contentType });
    this.response.end(body);
  }

  fail(error: ApiError): void {
    if (error.code === 429 || error.code === 504) this.response.setHeader('Retry-After', '1');
    this.json(error.code, error.toStatus());
  }
}
