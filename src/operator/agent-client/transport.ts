import type { Dispatcher } from 'undici';
import { failureOf } from '../../common/http/failure.ts';
import { parseBaseURL } from '../../common/http/url.ts';
import { type Request, type Timeouts, Wire } from '../../common/http/wire.ts';
import { malformed, type Read } from './answer.ts';
import { AgentError } from './errors.ts';

export interface AgentClientOptions {
  /** Of the agent, such as `http://127.0.0.1:4040`, with or without `/api`. */
  readonly url: string;
  readonly userAgent: string;
  /** Default 5, 10 and 10 seconds. No request takes longer than their sum. */
  readonly timeouts?: Timeouts;
  /** Closed by whoever made it. */
  readonly dispatcher?: Dispatcher;
  /** Called right before a request is sent; what it throws stops the request. */
  readonly guard?: () => void;
}

/** One call of an operation. */
export interface Call<T> extends Omit<Request, 'headers' | 'largestAnswer'> {
  readonly operation: string;
  readonly read: Read<T>;
  /** MiB, default 8. */
  readonly largestAnswerMiB?: number;
}

const defaultTimeouts: Timeouts = { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000 };
const MiB = 1024 * 1024;

/** Takes calls to the agent. */
export class Transport {
  readonly #wire: Wire;
  readonly #guard: () => void;
  readonly #headers: Readonly<Record<string, string>>;

  /** @throws TypeError for a URL that is not usable. */
  constructor({ url, userAgent, timeouts = defaultTimeouts, dispatcher, guard = () => {} }: AgentClientOptions) {
    const baseURL = parseBaseURL(url, 'agent URL');
    baseURL.pathname = baseURL.pathname.replace(/\/api\/?$/, '');
    this.#wire = new Wire({ baseURL, timeouts, dispatcher });
    this.#guard = guard;
    this.#headers = { 'user-agent': userAgent };
  }

  /** Throws an {@link AgentError} and nothing else. */
  async send<T>({ operation, read, largestAnswerMiB = 8, ...request }: Call<T>): Promise<T> {
    this.#admit(operation);
    const { status, text } = await this.#wire
      .exchange({ ...request, headers: this.#headers, largestAnswer: largestAnswerMiB * MiB })
      .catch((cause: unknown) => {
        const { message, notSent } = failureOf(cause);
        throw new AgentError(message, { operation, reason: 'Unreachable', definite: notSent, cause });
      });
    if (text === undefined) throw malformed({ operation, status }, `larger than ${largestAnswerMiB} MiB`);
    return read({ operation, status, text });
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  #admit(operation: string): void {
    try {
      this.#guard();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new AgentError(`not sent: ${why}`, { operation, reason: 'Unreachable', definite: true, cause });
    }
  }
}
