import { CredentialGate } from './credential-gate.ts';
import type { CloudErrorReason } from './errors.ts';
import { CloudError, CloudRefusalError } from './errors.ts';
import { BudgetPausedError, type Limiter } from './limiter.ts';
import type { Priority } from './priority.ts';
import { notSent } from './transport-error.ts';
import type { Call, WireOptions } from './wire.ts';
import { Wire } from './wire.ts';

export interface CallOptions {
  readonly priority: Priority;
  /** Ends the wait for the budget. What was sent is always seen through, because its effect is not undone by looking away. */
  readonly signal?: AbortSignal | undefined;
}

export interface RequestReport {
  /** Such as `reserved_addrs.get`: one of 33. */
  readonly operation: string;
  readonly method: string;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** `ok` also where a 404 is an answer: nothing there, nothing to delete. */
  readonly outcome: 'ok' | CloudErrorReason;
  /** From sending to the end of the answer. */
  readonly ms: number;
  /** For the limiter, before sending. */
  readonly waitedMs: number;
  readonly priority: Priority;
}

export interface TransportOptions extends WireOptions {
  /** The current key, asked for each request. */
  readonly apiKey: () => string;
  /** Asked for each request: shared by every client of the same credential. */
  readonly limiter: () => Limiter;
  /** Called right before a request is sent; what it throws stops the request. */
  readonly guard?: () => void;
  /** Called once for every request that was sent. */
  readonly onRequest?: (report: RequestReport) => void;
}

/** The permission to send one request. */
interface Grant extends CallOptions {
  readonly limiter: Limiter;
  readonly waitedMs: number;
}

/** Takes a call through limiter, key, guard and credential gate to the wire, and learns from its answer. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #wire: Wire;
  readonly #gate = new CredentialGate(() => performance.now());

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#wire = new Wire(options);
  }

  /** Throws a {@link CloudError} and nothing else. */
  async send<T>(call: Call<T>, options: CallOptions): Promise<T> {
    this.#gate.check(call.operation, this.#key(call.operation));
    const limiter = this.#options.limiter();
    const waitedMs = await wait(limiter, call.operation, options);
    let sent = false;
    try {
      const key = this.#admit(call.operation);
      sent = true;
      return await this.#exchange(call, key, { ...options, waitedMs, limiter });
    } finally {
      limiter.release(options.priority, sent);
    }
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  /** While the call waited, the key may have been replaced or refused, and the right to send lost. */
  #admit(operation: string): string {
    const key = this.#key(operation);
    this.#gate.check(operation, key);
    try {
      this.#options.guard?.();
    } catch (cause) {
      throw notSent(operation, cause);
    }
    this.#gate.enter(operation, key);
    return key;
  }

  #key(operation: string): string {
    let key: string;
    try {
      key = this.#options.apiKey();
    } catch (cause) {
      throw unusableKey(operation, 'there is no API key', cause);
    }
    if (/^[\x21-\x7e]+$/.test(key)) return key;
    throw unusableKey(operation, 'the API key is empty or has characters that a header cannot carry');
  }

  async #exchange<T>(call: Call<T>, key: string, grant: Grant): Promise<T> {
    const started = performance.now();
    let status: number | undefined;
    let outcome: RequestReport['outcome'] = 'ok';
    try {
      const answer = await this.#wire.exchange(call, key);
      status = answer.status;
      this.#gate.learn(key, status);
      return call.read(answer);
    } catch (error) {
      if (error instanceof CloudError) {
        outcome = error.reason;
        status = error.status;
        if (outcome === 'RateLimited') grant.limiter.penalize(error.retryAfterMs);
      }
      throw error;
    } finally {
      const { operation, method } = call;
      const { waitedMs, priority } = grant;
      const ms = performance.now() - started;
      this.#options.onRequest?.({ operation, method, status, outcome, ms, waitedMs, priority });
    }
  }
}

async function wait(limiter: Limiter, operation: string, { priority, signal }: CallOptions): Promise<number> {
  try {
    return await limiter.acquire(priority, signal);
  } catch (cause) {
    throw cause instanceof BudgetPausedError ? paused(operation, cause) : notSent(operation, cause);
  }
}

function unusableKey(operation: string, problem: string, cause?: unknown): CloudRefusalError {
  return new CloudRefusalError(`not sent, ${problem}`, { operation, reason: 'Unauthorized', definite: true, cause });
}

function paused(operation: string, cause: BudgetPausedError): CloudRefusalError {
  const { message, retryAfterMs } = cause;
  return new CloudRefusalError(`not sent, ${message}`, {
    operation,
    reason: 'RateLimited',
    definite: true,
    retryAfterMs,
    cause,
  });
}
