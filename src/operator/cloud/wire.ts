import type { Dispatcher } from 'undici';
import type { Answer, Read } from '../../common/http/answer.ts';
import { malformed } from '../../common/http/answer.ts';
import { failed } from '../../common/http/failed.ts';
import { parseBaseURL } from '../../common/http/url.ts';
import type { Timeouts } from '../../common/http/wire.ts';
import { Wire as HttpWire } from '../../common/http/wire.ts';

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
export interface Operation<T> {
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

/** HTTP as the reference document wants it (sections 4, 5 and 9). */
export class Wire {
  readonly #http: HttpWire;
  readonly #userAgent: string;

  constructor({ baseURL, userAgent, timeouts = defaultTimeouts, dispatcher }: WireOptions) {
    this.#http = new HttpWire({ baseURL: parseBaseURL(baseURL, 'API URL'), timeouts, dispatcher });
    this.#userAgent = userAgent;
  }

  /** Any HTTP answer is a result; throws a CloudError when there is none. */
  async exchange({ operation, method, path, body }: Operation<unknown>, apiKey: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${apiKey}`, 'service-version': '2', 'user-agent': this.#userAgent };
    const answer = await this.#http
      .exchange({ method, path, headers, body, largestAnswer })
      .catch((cause: unknown) => Promise.reject(failed(operation, cause)));
    const { status, text } = answer;
    if (text === undefined) throw malformed({ operation, status }, 'larger than 8 MiB');
    return { operation, status, headers: answer.headers, text, secrets: [apiKey, ...secretsOf(body)] };
  }

  /** Waits for the requests under way; may be called again. */
  close(): Promise<void> {
    return this.#http.close();
  }
}

function secretsOf(body: object | undefined): readonly string[] {
  return Object.entries(body ?? {}).flatMap(([name, value]) =>
    secretFields.includes(name) && typeof value === 'string' ? [value] : [],
  );
}
