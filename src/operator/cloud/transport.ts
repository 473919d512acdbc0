import { Breaker } from '../../common/breaker.ts';
import { isKey } from '../../common/credential/key.ts';
import type { Answer } from '../../common/http/answer.ts';
import { ApiError, type ApiErrorReason } from '../../common/http/errors.ts';
import { notSent } from '../../common/http/failure.ts';
import { HttpClient, type Operation } from '../../common/http/http-client.ts';
import type { Timeouts } from '../../common/http/service.ts';
import { parseBaseURL } from '../../common/http/url.ts';
import type { Call, Priority } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { BudgetPausedError, type Limiter } from './limiter.ts';
import { cloudService } from './service.ts';

export interface RequestReport {
  /** Such as `reserved_addrs.get`: one of 33. */
  readonly operation: string;
  readonly method: string;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** `ok` also where a 404 is an answer: nothing there, nothing to delete. */
  readonly outcome: 'ok' | ApiErrorReason;
  /** From sending to the end of the answer. */
  readonly ms: number;
  /** For the limiter, before sending. */
  readonly waitedMs: number;
  readonly priority: Priority;
}

export interface TransportOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'dispatcher'> {
  /** Scheme, host and optional path prefix. */
  readonly baseURL: string;
  readonly userAgent: string;
  /** The current key, asked for each request. */
  readonly apiKey: () => string;
  /** Asked for each request: shared by every client of the same credential. */
  readonly limiter: () => Limiter;
  /** Called right before a request is sent; what it throws stops the request. */
  readonly guard?: () => void;
  /** Called once for every request that was sent. */
  readonly onRequest?: (report: RequestReport) => void;
  /** Default 5, 10 and 10 seconds. No request takes longer than their sum. */
  readonly timeouts?: Timeouts;
}

/** Named, as every operation of this API is. */
export type CloudOperation<T> = Operation<T> & { readonly name: string };

/** The permission to send one request. */
interface Grant extends Call {
  readonly limiter: Limiter;
  readonly waitedMs: number;
  readonly key: string;
}

/** A refused key is tried again after so long, in case the service has come to know it. */
const refusedKeyPause = { minMs: 10_000, maxMs: 300_000 };

/**
 * Takes a call through key, limiter and guard to the service, and learns from its answer. After a 401 calls with the
 * same key fail here until it is time for one to find out whether it is still refused: after 10 s, doubling to 5
 * minutes. A 403 is about one resource and says nothing of the key.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #http: HttpClient;
  readonly #now: () => number;
  /** What the service's clock showed, and what the monotonic one did then. */
  #serviceClock: { readonly date: number; readonly at: number } | undefined;
  #refusals: { readonly key: string; readonly breaker: Breaker<ApiError> } | undefined;

  /** @throws TypeError for a base URL that is not usable. */
  constructor(options: TransportOptions) {
    const { baseURL, monotonic } = options;
    this.#options = options;
    this.#http = new HttpClient(cloudService, { ...options, baseURL: parseBaseURL(baseURL, cloudService.urlName) });
    this.#now = () => monotonic.now();
  }

  /** Throws an {@link ApiError} and nothing else. */
  async send<T>(operation: CloudOperation<T>, call: Call): Promise<T> {
    this.#admit(operation.name);
    const limiter = this.#options.limiter();
    const waitedMs = await wait(limiter, operation.name, call);
    let sent = false;
    try {
      // While the call waited, the key may have been replaced or refused, and the right to send lost.
      const key = this.#admit(operation.name);
      this.#checkGuard(operation.name);
      sent = true;
      const breaker = this.#breakerOf(key);
      return await breaker.try(
        () => this.#exchange(operation, { ...call, limiter, waitedMs, key }),
        (error) => refusalOf(error, breaker),
      );
    } finally {
      limiter.release(call.priority, sent);
    }
  }

  /** What the service's clock shows now, by the `Date` of its last answer; undefined without one. */
  serviceTime(): number | undefined {
    const clock = this.#serviceClock;
    return clock === undefined ? undefined : clock.date + this.#now() - clock.at;
  }

  /** Waits for the requests under way; an injected dispatcher stays open. */
  close(): Promise<void> {
    return this.#http.close();
  }

  /** The key to send with. Throws when there is none that is worth a request. */
  #admit(operation: string): string {
    const key = this.#key(operation);
    try {
      this.#breakerOf(key).check();
    } catch {
      const message = 'the API answered 401 to this API key before; replace the key';
      throw unusableKey(operation, message, { status: 401 });
    }
    return key;
  }

  #key(operation: string): string {
    let key: string;
    try {
      key = this.#options.apiKey();
    } catch (cause) {
      throw unusableKey(operation, 'there is no API key', { cause });
    }
    if (isKey(key)) return key;
    throw unusableKey(operation, 'the API key is empty or has characters that a header cannot carry');
  }

  /** Of the key in force: nothing is known of another one. */
  #breakerOf(key: string): Breaker<ApiError> {
    if (this.#refusals?.key !== key)
      this.#refusals = { key, breaker: new Breaker({ ...refusedKeyPause, now: this.#now }) };
    return this.#refusals.breaker;
  }

  #checkGuard(operation: string): void {
    try {
      this.#options.guard?.();
    } catch (cause) {
      throw notSent(operation, cause);
    }
  }

  /** The header has whole seconds, of which the service was somewhere within. */
  #readClock({ headers: { date } }: Answer): void {
    const shown = Date.parse(String(date));
    if (!Number.isNaN(shown)) this.#serviceClock = { date: shown, at: this.#now() };
  }

  async #exchange<T>(operation: CloudOperation<T>, { key, limiter, waitedMs, priority }: Grant): Promise<T> {
    const started = this.#now();
    let status: number | undefined;
    let outcome: RequestReport['outcome'] = 'ok';
    try {
      const answer = await this.#http.exchange(operation, key);
      status = answer.status;
      const result = operation.read(answer);
      // Of the service itself: what stands in between has a clock of its own.
      this.#readClock(answer);
      return result;
    } catch (error) {
      if (error instanceof ApiError) {
        outcome = error.reason;
        status = error.status;
        if (outcome === 'RateLimited') limiter.penalize(error.retryAfterMs);
      }
      throw error;
    } finally {
      const { name, method } = operation;
      const ms = this.#now() - started;
      this.#options.onRequest?.({ operation: name, method, status, outcome, ms, waitedMs, priority });
    }
  }
}

/** A 401; and no answer at all, which tells nothing new of a key that was refused. Any other answer is to a key that is known. */
function refusalOf(error: unknown, breaker: Breaker<ApiError>): ApiError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.status === 401 || (error.status === undefined && breaker.failure !== undefined)) return error;
  if (error.status !== undefined) breaker.close();
  return undefined;
}

async function wait(limiter: Limiter, operation: string, { priority, signal }: Call): Promise<number> {
  try {
    return await limiter.acquire(priority, signal);
  } catch (cause) {
    if (!(cause instanceof BudgetPausedError)) throw notSent(operation, cause);
    const { message, retryAfterMs } = cause;
    throw new ApiError(`not sent, ${message}`, {
      operation,
      reason: 'RateLimited',
      definite: true,
      retryAfterMs,
      cause,
    });
  }
}

function unusableKey(operation: string, problem: string, more: Partial<Pick<ApiError, 'status' | 'cause'>> = {}) {
  return new ApiError(`not sent, ${problem}`, { operation, reason: 'Unauthorized', definite: true, ...more });
}
