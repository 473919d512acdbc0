import { isKey } from '../../common/credential/key.ts';
import { ApiError, type ApiErrorReason } from '../../common/http/errors.ts';
import { notSent } from '../../common/http/failure.ts';
import { HttpClient, type Operation } from '../../common/http/http-client.ts';
import type { Permit } from '../../common/http/permitted-sending.ts';
import type { Timeouts } from '../../common/http/service.ts';
import { parseBaseURL } from '../../common/http/url.ts';
import { type Call, type Priority, waitAway } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { isRefusal, KeyGate } from './key-gate.ts';
import { type Ask, BudgetPausedError, type Limiter, type Slot } from './limiter.ts';
import { cloudService } from './service.ts';

export interface RequestReport {
  /** Such as `reserved_addrs.get`: one of 33. */
  readonly operation: string;
  readonly method: string;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** `ok` also where a 404 is an answer: nothing there, nothing to delete. */
  readonly outcome: 'ok' | ApiErrorReason;
  /** The service refused the key, and not only what was asked for with it. */
  readonly keyRefused: boolean;
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
  /** What is known of the key in force, where several share it. Default known to this client alone. */
  readonly gate?: () => KeyGate;
  /** Of those that share the limiter. */
  readonly account?: string;
  /** Called right before a request is sent, once connected; what it throws stops the request. */
  readonly guard?: () => void;
  /** Called once for every request that was sent. */
  readonly onRequest?: (report: RequestReport) => void;
  /** Default 5, 10 and 10 seconds. No request takes longer than their sum. */
  readonly timeouts?: Timeouts;
}

/** Named, as every operation of this API is. */
export type CloudOperation<T> = Operation<T> & { readonly name: string };

/** What one request is sent with. */
interface Sending {
  readonly key: string;
  readonly gate: KeyGate;
  readonly limiter: Limiter;
  readonly slot: Slot;
}

/**
 * Takes a call through key, limiter and guard to the service, and learns from its answer; what it learns of a key is the
 * {@link KeyGate}'s.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #probe: CloudOperation<unknown>;
  readonly #http: HttpClient;
  readonly #now: () => number;
  #gate: { readonly key: string; readonly gate: KeyGate } | undefined;

  /**
   * @param probe a list that costs little, sent to find out whether a key is refused
   * @throws TypeError for a base URL that is not usable
   */
  constructor(options: TransportOptions, probe: CloudOperation<unknown>) {
    const { baseURL, monotonic } = options;
    this.#options = options;
    this.#probe = probe;
    this.#http = new HttpClient(cloudService, { ...options, baseURL: parseBaseURL(baseURL, cloudService.urlName) });
    this.#now = () => monotonic.now();
  }

  /** Throws an {@link ApiError} and nothing else. Once `call.signal` has aborted nothing is sent any more. */
  send<T>(operation: CloudOperation<T>, call: Call): Promise<T> {
    return waitAway(call, () => this.#send(operation, call));
  }

  /** Waits for the requests under way; an injected dispatcher stays open. */
  close(): Promise<void> {
    return this.#http.close();
  }

  async #send<T>(operation: CloudOperation<T>, call: Call): Promise<T> {
    const { gate } = this.#admit(operation.name);
    if (!gate.asksForList()) return this.#sendOne(operation, call);
    // Whatever it says of the service is what this call will be told.
    await this.#sendOne(this.#probe, call).catch(() => {});
    return this.#sendOne(operation, call);
  }

  async #sendOne<T>(operation: CloudOperation<T>, call: Call): Promise<T> {
    this.#admit(operation.name);
    const limiter = this.#options.limiter();
    const slot = await wait(limiter, operation.name, { ...call, account: this.#options.account });
    let sent = false;
    try {
      // While the call waited, the key may have been replaced or refused, and the right to send lost.
      const { key, gate } = this.#admit(operation.name);
      this.#checkWanted(operation.name, call);
      const permit = () => {
        this.#permit(call);
        sent = true;
      };
      return await gate.try(
        () => this.#exchange(operation, call, { key, gate, limiter, slot }, permit),
        { isList: isList(operation) },
        () => sent,
      );
    } finally {
      slot.release(sent);
    }
  }

  /** The key to send with. Throws when there is none that is worth a request. */
  #admit(operation: string): Pick<Sending, 'key' | 'gate'> {
    const key = this.#key(operation);
    const gate = this.#gateOf(key);
    const refusal = gate.refusal();
    if (refusal === undefined) return { key, gate };
    const { status = 401 } = refusal;
    throw unusableKey(operation, `the API answered ${status} to this API key before; replace the key`, { status });
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
  #gateOf(key: string): KeyGate {
    const { gate } = this.#options;
    if (gate !== undefined) return gate();
    if (this.#gate?.key !== key) this.#gate = { key, gate: new KeyGate(this.#now) };
    return this.#gate.gate;
  }

  /** So that nothing is connected in vain. */
  #checkWanted(operation: string, call: Call): void {
    try {
      this.#permit(call);
    } catch (cause) {
      throw notSent(operation, cause);
    }
  }

  /** Throws when the call is not wanted any more, or this process may not send it. */
  #permit({ signal }: Call): void {
    signal?.throwIfAborted();
    this.#options.guard?.();
  }

  async #exchange<T>(operation: CloudOperation<T>, { priority }: Call, sending: Sending, permit: Permit): Promise<T> {
    const { key, limiter, slot } = sending;
    const started = this.#now();
    let isStopped = false;
    const orStop = () => {
      isStopped = true;
      permit();
      isStopped = false;
    };
    let status: number | undefined;
    let outcome: RequestReport['outcome'] = 'ok';
    try {
      const answer = await this.#http.exchange(operation, key, orStop);
      status = answer.status;
      return operation.read(answer);
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
      const keyRefused = isRefusal(status, isList(operation));
      const { waitedMs } = slot;
      if (!isStopped)
        this.#options.onRequest?.({ operation: name, method, status, outcome, keyRefused, ms, waitedMs, priority });
    }
  }
}

function isList({ name }: CloudOperation<unknown>): boolean {
  return name.endsWith('.list');
}

async function wait(limiter: Limiter, operation: string, ask: Ask): Promise<Slot> {
  try {
    return await limiter.acquire(ask);
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
