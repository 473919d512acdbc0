import type { Dispatcher } from 'undici';
import { Agent } from 'undici';
import type { Answer, Read } from './answer.ts';
import { malformed } from './answer.ts';
import { failed } from './transport-error.ts';

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
  readonly baseURL: string;
  readonly userAgent: string;
  /** Default 5, 10 and 10 seconds. No request takes longer than their sum. */
  readonly timeouts?: Timeouts;
  /** For a proxy or a private CA, with a connect timeout of its own; closed by whoever made it. */
  readonly dispatcher?: Dispatcher;
}

/** One call of an operation. */
export interface Call<T> {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL, encoded, with its query. */
  readonly path: string;
  readonly body?: object;
  readonly read: Read<T>;
}

const defaultTimeouts: Timeouts = { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000 };
const largestAnswer = 8 * 1024 * 1024;
const secretFields = ['secret', 'idp_metadata'];

/** HTTP as the reference document wants it (sections 4, 5 and 9). Redirects are not followed, nothing is retried. */
export class Wire {
  readonly #origin: string;
  readonly #prefix: string;
  readonly #userAgent: string;
  readonly #timeouts: Timeouts;
  readonly #dispatcher: Dispatcher;
  readonly #ownsDispatcher: boolean;
  #closed: Promise<void> | undefined;

  constructor(options: WireOptions) {
    const base = parseBase(options.baseURL);
    this.#origin = base.origin;
    this.#prefix = base.pathname.replace(/\/+$/, '');
    this.#userAgent = options.userAgent;
    this.#timeouts = options.timeouts ?? defaultTimeouts;
    this.#ownsDispatcher = options.dispatcher === undefined;
    this.#dispatcher = options.dispatcher ?? new Agent({ connect: { timeout: this.#timeouts.connectMs } });
  }

  /** Any HTTP answer is a result; throws a CloudError when there is none. */
  async exchange(call: Call<unknown>, apiKey: string): Promise<Answer> {
    try {
      const response = await this.#dispatcher.request(this.#request(call, apiKey));
      const { statusCode: status, headers } = response;
      const text = await readText(response.body);
      if (text === undefined) throw malformed({ operation: call.operation, status }, 'larger than 8 MiB');
      return { operation: call.operation, status, headers, text, secrets: [apiKey, ...secretsOf(call.body)] };
    } catch (error) {
      throw failed(call.operation, error);
    }
  }

  /** Waits for the requests under way; may be called again. */
  close(): Promise<void> {
    this.#closed ??= this.#ownsDispatcher ? this.#dispatcher.close() : Promise.resolve();
    return this.#closed;
  }

  #request(call: Call<unknown>, apiKey: string): Dispatcher.RequestOptions {
    const { connectMs, headersMs, bodyMs } = this.#timeouts;
    return {
      origin: this.#origin,
      path: this.#prefix + call.path,
      method: call.method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'service-version': '2',
        accept: 'application/json',
        'user-agent': this.#userAgent,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      headersTimeout: headersMs,
      bodyTimeout: bodyMs,
      // The timeouts of the parts do not stop an answer that comes in drops.
      signal: AbortSignal.timeout(connectMs + headersMs + bodyMs),
    };
  }
}

function parseBase(baseURL: string): URL {
  const url = URL.parse(baseURL);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError('the API URL must start with http:// or https://');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`the API URL of ${url.host} must have no credentials, query or fragment`);
  }
  return url;
}

/** Undefined when it is too large. */
async function readText(body: Dispatcher.ResponseData['body']): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (size > largestAnswer) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function secretsOf(body: object | undefined): readonly string[] {
  return Object.entries(body ?? {}).flatMap(([name, value]) =>
    secretFields.includes(name) && typeof value === 'string' ? [value] : [],
  );
}
