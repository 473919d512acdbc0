import { Agent, type Dispatcher } from 'undici';
import type { Endpoint } from './endpoint.ts';

const timeoutMs = 5_000;
const connections = 8;
const longestRetryAfterSeconds = 300;
const longestMessage = 200;

export interface LeaseClientOptions {
  /** Base URL of the cloud. */
  readonly url: string;
  /** The current API key, asked for each request. */
  readonly key: () => string;
  readonly userAgent: string;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | string[] | undefined;
  /** Parsed JSON. */
  readonly body: unknown;
}

/** A request that the cloud did not carry out; the message holds no secret. */
export class LeaseError extends Error {
  override readonly name = 'LeaseError';
  /** How long the cloud wants to be left alone. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The requests of docs/reference-cloud.md, "Endpoints of agents". Each takes 5 s at most; none is repeated. */
export class LeaseClient {
  readonly #options: LeaseClientOptions;
  readonly #origin: string;
  readonly #path: string;
  readonly #agent = new Agent({ connections, connect: { timeout: timeoutMs } });

  constructor(options: LeaseClientOptions) {
    const { origin, pathname } = new URL(options.url);
    this.#options = options;
    this.#origin = origin;
    this.#path = `${pathname.replace(/\/+$/, '')}/_agent/endpoints`;
  }

  /** @throws LeaseError */
  async put(id: string, endpoint: Endpoint): Promise<void> {
    const answer = await this.#send('PUT', id, endpoint);
    // Whatever stands between may answer 200 as well.
    if (answer.status !== 200 || textOf(answer.body, 'id') !== id) throw refusal(answer);
  }

  /** One that is not there is as good as deleted. @throws LeaseError */
  async delete(id: string): Promise<void> {
    const answer = await this.#send('DELETE', id);
    if (answer.status !== 204 && answer.status !== 404) throw refusal(answer);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #send(method: 'PUT' | 'DELETE', id: string, endpoint?: Endpoint): Promise<Answer> {
    const key = this.#key();
    const { statusCode: status, headers, body } = await this.#exchange(method, id, key, endpoint);
    const text = await body.text().catch(() => '');
    return { status, retryAfter: headers['retry-after'], body: parse(text.replaceAll(key, '…')) };
  }

  async #exchange(
    method: 'PUT' | 'DELETE',
    id: string,
    key: string,
    body?: Endpoint,
  ): Promise<Dispatcher.ResponseData> {
    const options: Dispatcher.RequestOptions = {
      origin: this.#origin,
      path: `${this.#path}/${id}`,
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'service-version': '2',
        'user-agent': this.#options.userAgent,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    };
    return this.#agent.request(options).catch((cause: NodeJS.ErrnoException) => {
      const why =
        cause.name === 'TimeoutError' ? `no answer within ${timeoutMs / 1_000} s` : (cause.code ?? cause.name);
      throw new LeaseError(`cannot be reached: ${why}`, 0, { cause });
    });
  }

  #key(): string {
    const key = this.#options.key();
    if (/^[\x21-\x7e]+$/.test(key)) return key;
    throw new LeaseError('was not asked: the API key has characters that a header cannot carry');
  }
}

function refusal({ status, retryAfter, body }: Answer): LeaseError {
  const why = textOf(body, 'msg')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, longestMessage);
  return new LeaseError(`answered ${status}${why && `: ${why}`}`, retryAfterMs(retryAfter));
}

/** Undefined when it is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(body: unknown, field: 'id' | 'msg'): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, field) : undefined;
  return typeof value === 'string' ? value : '';
}

function retryAfterMs(header: Answer['retryAfter']): number {
  const seconds = /^\d{1,9}$/.test(String(header)) ? Number(header) : 0;
  return Math.min(seconds, longestRetryAfterSeconds) * 1_000;
}
