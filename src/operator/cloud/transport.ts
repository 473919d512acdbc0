import { type Call, type Reserved, waitAway } from '../../common/call.ts';
import { isKey } from '../../common/credential/key.ts';
import type { Answer } from '../../common/http/answer.ts';
import { ApiError, type ApiErrorReason } from '../../common/http/errors.ts';
import { notSent } from '../../common/http/failure.ts';
import { HttpClient, type Operation } from '../../common/http/http-client.ts';
import type { Timeouts } from '../../common/http/service.ts';
import { parseBaseURL } from '../../common/http/url.ts';
import type { Priority } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import { KeyGate } from './key-gate.ts';
import type { Limiter, Slot } from './limiter.ts';
import { BudgetPausedError } from './pause.ts';
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
  /** For how long it asked not to be asked again. */
  readonly retryAfterMs: number | undefined;
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
  /** Default 5 s to connect, 10 s for headers, 10 s without a byte of the body, and 15 s for all of it. */
  readonly timeouts?: Timeouts;
}

/** Named, as every operation of this API is. */
export type CloudOperation<T> = Operation<T> & { readonly name: string };

/** What a call has waited for, and of which budget. */
interface Turn {
  readonly slot: Slot;
  readonly limiter: Limiter;
  /** Those of the limiter when it was the turn. */
  readonly pauses: number;
}

/** What one request is sent with. */
interface Sending {
  readonly key: string;
  readonly gate: KeyGate;
  readonly limiter: Limiter;
  readonly slot: Slot;
  readonly sent: { yet: boolean };
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
  /** What the service's clock showed, and what the monotonic one did then. */
  #serviceClock: { readonly date: number; readonly at: number } | undefined;
  readonly #reserved = new WeakMap<object, Turn>();
  #gate: { readonly key: string; readonly gate: KeyGate } | undefined;

  /**
   * @param probe a list that costs little, sent to find out whether a key is refused
   * @throws TypeError for a base URL that is not usable
   */
  constructor(options: TransportOptions, probe: CloudOperation<unknown>) {
    const { baseURL, monotonic } = options;
    this.#options = options;
    this.#probe = probe;
    // A date in an answer without one of its own is by the service's clock.
    const clock = { now: () => this.serviceTime() ?? options.clock.now() };
    const url = parseBaseURL(baseURL, cloudService.urlName);
    this.#http = new HttpClient(cloudService, { ...options, clock, baseURL: url });
    this.#now = () => monotonic.now();
  }

  /** Throws an {@link ApiError} and nothing else. Once `call.signal` has aborted nothing is sent any more. */
  send<T>(operation: CloudOperation<T>, call: Call): Promise<T> {
    return waitAway(call, () => this.#send(operation, call));
  }

  /** Waits for the turn of a call ahead of it, as before something is written that it is to follow at once. Throws as send. */
  async reserve(call: Call): Promise<Reserved> {
    const reservation = {};
    const turn = await waitAway(call, () => this.#turnOf(undefined, call));
    try {
      this.#checkWanted(undefined, call);
    } catch (error) {
      turn.slot.release(false);
      throw error;
    }
    this.#reserved.set(reservation, turn);
    const giveBack = () => this.#taken(reservation)?.slot.release(false);
    return { call: { ...call, reservation }, [Symbol.dispose]: giveBack };
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

  /** With the slot that a call has waited for goes the list that is to tell of the key, where one is asked for. */
  async #send<T>(operation: CloudOperation<T>, call: Call): Promise<T> {
    for (;;) {
      const { slot, limiter } = this.#ahead(call) ?? (await this.#turnOf(operation.name, call));
      const sent = { yet: false };
      try {
        // While the call waited, the key may have been replaced or refused, and the right to send lost.
        const { key, gate } = this.#admit(operation.name);
        this.#checkWanted(operation.name, call);
        // Nor is the turn of one key another one's.
        if (slot.isVoid || this.#options.limiter() !== limiter || gate.question !== undefined) continue;
        const sending = { key, gate, limiter, slot, sent };
        if (!gate.asksForList()) return await this.#sendNow(operation, call, sending);
        await gate.ask(
          () => this.#sendNow(this.#probe, call, sending),
          () => sent.yet,
        );
      } catch (error) {
        if (!(error instanceof ApiError && error.cause instanceof OvertakenError)) throw error;
      } finally {
        slot.release(sent.yet);
      }
    }
  }

  /** What waits to hear whether its key is refused waits for that first: its turn is somebody else's meanwhile. */
  async #turnOf(operation: string | undefined, call: Call): Promise<Turn> {
    const { question } = this.#admit(operation).gate;
    if (question !== undefined) {
      await waited(operation, unlessAborted(question, call.signal));
      this.#admit(operation);
    }
    const limiter = this.#options.limiter();
    const slot = await waited(operation, limiter.acquire({ ...call, account: this.#options.account }));
    return { slot, limiter, pauses: limiter.pauses };
  }

  /** The turn that was reserved; given back when the key has been replaced, or the service has asked for a pause, since. */
  #ahead({ reservation }: Call): Turn | undefined {
    const turn = this.#taken(reservation);
    if (turn?.limiter === this.#options.limiter() && turn.pauses === turn.limiter.pauses) return turn;
    turn?.slot.release(false);
    return undefined;
  }

  /** Once. */
  #taken(reservation: object | undefined): Turn | undefined {
    const turn = reservation && this.#reserved.get(reservation);
    if (reservation !== undefined) this.#reserved.delete(reservation);
    return turn;
  }

  #sendNow<T>(operation: CloudOperation<T>, call: Call, sending: Sending): Promise<T> {
    const { gate, sent } = sending;
    const exchange = () => this.#exchange(operation, call, sending);
    return gate.try(exchange, { isList: isList(operation) }, () => sent.yet);
  }

  /** The key to send with. Throws when there is none that is worth a request. */
  #admit(operation: string | undefined): Pick<Sending, 'key' | 'gate'> {
    const key = this.#key(operation);
    const gate = this.#gateOf(key);
    const refusal = gate.refusal();
    if (refusal !== undefined) throw refusal;
    return { key, gate };
  }

  #key(operation: string | undefined): string {
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
  #checkWanted(operation: string | undefined, call: Call): void {
    try {
      this.#permit(call);
    } catch (cause) {
      throw notSent(operation, cause);
    }
  }

  /** The header has whole seconds, of which the service was somewhere within. */
  #readClock({ headers: { date } }: Answer): void {
    const shown = Date.parse(String(date));
    if (!Number.isNaN(shown)) this.#serviceClock = { date: shown, at: this.#now() };
  }

  /** Throws when the call is not wanted any more, or this process may not send it. */
  #permit({ signal, permit }: Call): void {
    signal?.throwIfAborted();
    permit?.();
    this.#options.guard?.();
  }

  async #exchange<T>(
    operation: CloudOperation<T>,
    call: Call,
    { key, gate, limiter, slot, sent }: Sending,
  ): Promise<T> {
    const started = this.#now();
    let isStopped = false;
    const permit = () => {
      isStopped = true;
      this.#permit(call);
      // Connecting may have taken as long as the answer that asks for it.
      if (limiter.isPaused) throw new OvertakenError('the service asked for a pause');
      isStopped = false;
      sent.yet = true;
    };
    let status: number | undefined;
    let outcome: RequestReport['outcome'] = 'ok';
    let retryAfterMs: number | undefined;
    try {
      const answer = await this.#http.exchange(operation, key, permit);
      status = answer.status;
      const result = operation.read(answer);
      // Of the service itself: what stands in between has a clock of its own.
      this.#readClock(answer);
      return result;
    } catch (error) {
      if (error instanceof ApiError) {
        outcome = error.reason;
        ({ status, retryAfterMs } = error);
        if (outcome === 'RateLimited') limiter.penalize(retryAfterMs);
      }
      throw error;
    } finally {
      const { name, method } = operation;
      const ms = this.#now() - started;
      const keyRefused = gate.refuses(status, { isList: isList(operation) });
      const { waitedMs } = slot;
      const { priority } = call;
      const asked = { operation: name, method, priority };
      if (!isStopped) this.#options.onRequest?.({ ...asked, status, outcome, keyRefused, retryAfterMs, ms, waitedMs });
    }
  }
}

/** It was not sent, and waits for its turn again. */
class OvertakenError extends Error {}

function isList({ name }: CloudOperation<unknown>): boolean {
  return name.endsWith('.list');
}

/** What ends the wait of a call is why it was not sent. */
async function waited<T>(operation: string | undefined, wait: Promise<T>): Promise<T> {
  try {
    return await wait;
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

function unusableKey(operation: string | undefined, problem: string, more: Partial<Pick<ApiError, 'cause'>> = {}) {
  return new ApiError(`not sent, ${problem}`, { operation, reason: 'Unauthorized', definite: true, ...more });
}
