import type { CloudErrorReason } from '../../common/http/errors.ts';
import { CloudError, CloudRefusalError } from '../../common/http/errors.ts';
import { notSent } from '../../common/http/failed.ts';
import type { Call, Priority } from '../../common/priority.ts';
import { CredentialGate } from './credential-gate.ts';
import { BudgetPausedError, type Limiter } from './limiter.ts';
import type { Operation, WireOptions } from './wire.ts';
import { Wire } from './wire.ts';

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
interface Grant extends Call {
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
  async send<T>(operation: Operation<T>, call: Call): Promise<T> {
    this.#gate.check(operation.operation, this.#key(operation.operation));
    const limiter = this.#options.limiter();
    const waitedMs = await wait(limiter, operation.operation, call);
    let sent = false;
    try {
      const key = this.#admit(operation.operation);
      sent = true;
      return await this.#exchange(operation, key, { ...call, waitedMs, limiter });
    } finally {
      limiter.release(call.priority, sent);
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

  async #exchange<T>(request: Operation<T>, key: string, grant: Grant): Promise<T> {
    const started = performance.now();
    let status: number | undefined;
    let outcome: RequestReport['outcome'] = 'ok';
    try {
      const answer = await this.#wire.exchange(request, key);
      status = answer.status;
      this.#gate.learn(key, status);
      return request.read(answer);
    } catch (error) {
      if (error instanceof CloudError) {
        outcome = error.reason;
        status = error.status;
        if (outcome === 'RateLimited') grant.limiter.penalize(error.retryAfterMs);
      }
      throw error;
    } finally {
      const { operation, method } = request;
      const { waitedMs, priority } = grant;
      const ms = performance.now() - started;
      this.#options.onRequest?.({ operation, method, status, outcome, ms, waitedMs, priority });
    }
  }
}

async function wait(limiter: Limiter, operation: string, { priority, signal }: Call): Promise<number> {
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
