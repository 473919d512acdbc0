import type { Dispatcher } from 'undici';
import { Agent } from 'undici';

export interface Timeouts {
  /** To open a connection, TLS included. */
  readonly connectMs: number;
  /** From the request to the answer's headers. */
  readonly headersMs: number;
  /** Without a byte of the answer's body. */
  readonly bodyMs: number;
}

export interface WireOptions {
  /** Scheme, host and optional path prefix. */
  readonly baseURL: URL;
  readonly timeouts: Timeouts;
  /** For a proxy or a private CA, with a connect timeout of its own; closed by whoever made it. */
  readonly dispatcher?: Dispatcher | undefined;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL, encoded, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object | undefined;
  /** Largest body of an answer, in bytes. */
  readonly largestAnswer: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined when it is too large. */
  readonly text: string | undefined;
}

/** Exchanges JSON with one service over HTTP. Redirects are not followed, nothing is retried. */
export class Wire {
  readonly #origin: string;
  readonly #prefix: string;
  readonly #timeouts: Timeouts;
  readonly #dispatcher: Dispatcher;
  readonly #ownsDispatcher: boolean;
  #closed: Promise<void> | undefined;

  constructor({ baseURL, timeouts, dispatcher }: WireOptions) {
    this.#origin = baseURL.origin;
    this.#prefix = baseURL.pathname.replace(/\/+$/, '');
    this.#timeouts = timeouts;
    this.#ownsDispatcher = dispatcher === undefined;
    this.#dispatcher = dispatcher ?? new Agent({ connect: { timeout: timeouts.connectMs } });
  }

  /** Any HTTP answer is a result. Throws what undici or the system throws: see `failureOf`. */
  async exchange(request: Request): Promise<Answer> {
    const { statusCode: status, headers, body } = await this.#dispatcher.request(this.#options(request));
    return { status, headers, text: await readText(body, request.largestAnswer) };
  }

  /** Waits for the requests under way; may be called again. */
  close(): Promise<void> {
    this.#closed ??= this.#ownsDispatcher ? this.#dispatcher.close() : Promise.resolve();
    return this.#closed;
  }

  #options({ method, path, headers, body }: Request): Dispatcher.RequestOptions {
    const { connectMs, headersMs, bodyMs } = this.#timeouts;
    return {
      origin: this.#origin,
      path: this.#prefix + path,
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: headersMs,
      bodyTimeout: bodyMs,
      // The timeouts of the parts do not stop an answer that comes in drops.
      signal: AbortSignal.timeout(connectMs + headersMs + bodyMs),
    };
  }
}

async function readText(body: Dispatcher.ResponseData['body'], largest: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (size > largest) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
