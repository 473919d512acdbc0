import { Backoff } from '../../common/backoff.ts';
import type { Away } from '../../common/call.ts';
import type { Clock } from '../../common/clock.ts';
import type { Log } from '../../common/log.ts';
import type { Priority } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { isConflict } from '../kube/errors.ts';
import type { WorkQueue } from './queue.ts';
import { Shift } from './shift.ts';
import { Workers } from './workers.ts';

/** When to look at the key again. */
export type ReconcileResult =
  /** When something changes. */
  | { readonly kind: 'done' }
  /** In `ms` milliseconds, as a `resync` unless it says otherwise. */
  | { readonly kind: 'after'; readonly ms: number; readonly priority?: Priority }
  /** Later and later, up to `atMostMs` and not before `atLeastMs`. */
  | { readonly kind: 'backoff'; readonly atLeastMs?: number | undefined; readonly atMostMs?: number | undefined }
  /** At once, as after a 409 from Kubernetes; repeated ones are slowed down a little. */
  | { readonly kind: 'again' };

export interface ReconcileRequest {
  readonly key: string;
  /** Of this one reconcile, for logs. */
  readonly id: string;
  /**
   * Aborts when waiting is over: the work is to be abandoned, or the key has more urgent work to do, or what the work is
   * based on is not so any more.
   */
  readonly signal: AbortSignal;
  /** To wait by, for what other processes take their time over: meanwhile the worker is somebody else's. */
  readonly away: Away;
}

/** Whose a key is, of several replicas that share the work. */
export interface Share {
  readonly shard: number;
  /** Key of the account, or the agent, that it is for. */
  readonly connection: string;
}

export type Reconcile = (request: ReconcileRequest) => Promise<ReconcileResult>;

/** controller-runtime's results: `controller_runtime_reconcile_total{result}`. */
export type ReconcileOutcome = 'success' | 'requeue' | 'requeue_after' | 'error';

export interface ControllerMetrics {
  /** A reconcile ended, after `seconds`. */
  onReconcile?(outcome: ReconcileOutcome, seconds: number): void;
  onActiveWorkers?(count: number): void;
}

export interface ControllerOptions extends Pick<Runtime, 'monotonic' | 'random' | 'uuid'> {
  /** The kind, in logs. */
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly queue: WorkQueue;
  /** Undefined for a key that this process may not work on now: it is dropped. Default all are one share. */
  readonly shareOf?: ((key: string) => Share | undefined) | undefined;
  /** Reconciles that work at a time; those that are away do not count. Never two of one key. */
  readonly concurrency: number;
  readonly log: Log;
  readonly metrics?: ControllerMetrics | undefined;
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly share: Share;
}

/**
 * So many are begun before everything else has its turn: what goes to wait at once gives its worker to the next, and of
 * thousands that came together none would let the event loop go on.
 */
const mostBegun = 50;

const all: Share = { shard: 0, connection: '' };

/** Works through a queue of keys and puts each back as its reconcile asked. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #conflicts: Backoff;
  readonly #workers: Workers;
  readonly #running = new Map<string, Running>();
  #working = 0;
  #isOpen = false;
  #isFilling = false;
  /** Since everything else last had its turn. */
  #begun = 0;
  /** Why whatever runs is to be abandoned. */
  #abandoned: { readonly reason: unknown } | undefined;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#clock = options.monotonic;
    this.#conflicts = new Backoff({ minMs: 20, maxMs: 2_000 }, options.random);
    this.#workers = new Workers(options.concurrency, () => this.#fillSoon());
    options.queue.onReady(() => this.#fillSoon());
    options.queue.onOvertaken((key) => this.#stop(key, 'something more urgent came'));
  }

  /**
   * Starts no reconcile once `signal` aborts, and resolves when those in flight have ended; `abandon` is the signal they
   * are given. Once only.
   */
  async run(signal: AbortSignal, abandon?: AbortSignal): Promise<void> {
    whenAborted(abandon, (reason) => this.#abandon(reason));
    this.#isOpen = true;
    this.#fillSoon();
    await new Promise<void>((resolve) => whenAborted(signal, () => resolve()));
    this.#isOpen = false;
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** What the key was read as is not so any more: what its reconcile waits for is not to be done, and it is begun anew. */
  supersede(key: string, priority: Priority): void {
    this.#options.queue.add(key, priority);
    this.#stop(key, 'it has changed meanwhile');
  }

  /** Abandons the reconciles of such shares, and resolves when they have ended; others may begin no more of them by then. */
  async drain(isOver: (share: Share) => boolean): Promise<void> {
    const over = [...this.#running.values()].filter(({ share }) => isOver(share));
    for (const { stop } of over) stop.abort(new Error('another replica goes on with it'));
    await Promise.all(over.map(({ ended }) => ended));
  }

  /** How long the oldest reconcile that works has been at it; 0 when idle. One that only grows makes no progress. */
  oldestReconcileMs(): number {
    return this.#options.queue.longestRunningMs();
  }

  /** When whoever added keys, or gave a worker back, is through: what is begun may do so at once again. */
  #fillSoon(): void {
    if (this.#isFilling) return;
    this.#isFilling = true;
    queueMicrotask(() => this.#fillNow());
  }

  #fillNow(): void {
    this.#isFilling = false;
    this.#fill();
    if (this.#begun < mostBegun) return;
    this.#isFilling = true;
    void this.#clock.sleep(0).then(() => {
      this.#begun = 0;
      this.#fillNow();
    });
  }

  /** Gives every free worker a key. */
  #fill(): void {
    while (this.#isOpen && this.#workers.isFree && this.#begun < mostBegun) {
      const key = this.#options.queue.take();
      if (key === undefined) return;
      this.#begun += 1;
      const share = this.#shareOf(key);
      if (share === undefined) {
        this.#conflicts.forget(key);
        this.#options.queue.forget(key);
        this.#options.queue.done(key);
        continue;
      }
      this.#workers.take();
      this.#begin(key, share);
    }
  }

  #shareOf(key: string): Share | undefined {
    const { shareOf } = this.#options;
    return shareOf === undefined ? all : shareOf(key);
  }

  #begin(key: string, share: Share): void {
    const stop = new AbortController();
    if (this.#abandoned !== undefined) stop.abort(this.#abandoned.reason);
    const { queue } = this.#options;
    const shift = new Shift(this.#workers, {
      onLeave: () => {
        queue.leave(key);
        this.#count(-1);
      },
      onReturn: () => {
        queue.resume(key);
        this.#count(1);
      },
    });
    this.#count(1);
    const ended = this.#reconcile(key, stop.signal, shift.away).finally(() => {
      this.#running.delete(key);
      queue.done(key);
      shift.end();
    });
    this.#running.set(key, { stop, ended, share });
  }

  #stop(key: string, why: string): void {
    this.#running.get(key)?.stop.abort(new Error(why));
  }

  #abandon(reason: unknown): void {
    this.#abandoned = { reason };
    for (const { stop } of this.#running.values()) stop.abort(reason);
  }

  #count(change: 1 | -1): void {
    this.#working += change;
    this.#options.metrics?.onActiveWorkers?.(this.#working);
  }

  async #reconcile(key: string, signal: AbortSignal, away: Away): Promise<void> {
    const { metrics, reconcile, uuid } = this.#options;
    const id = uuid();
    const startedAt = this.#clock.now();
    let outcome: ReconcileOutcome;
    try {
      outcome = this.#requeue(key, await reconcile({ key, id, signal, away }));
    } catch (error) {
      outcome = this.#failed(key, id, error, signal);
    }
    metrics?.onReconcile?.(outcome, (this.#clock.now() - startedAt) / 1_000);
  }

  #requeue(key: string, result: ReconcileResult): ReconcileOutcome {
    const { queue } = this.#options;
    if (result.kind === 'again') return this.#again(key);
    this.#conflicts.forget(key);
    if (result.kind === 'backoff') {
      queue.addBackoff(key, 'first', result);
      return 'requeue';
    }
    queue.forget(key);
    if (result.kind === 'done') return 'success';
    queue.addAfter(key, result.ms, result.priority ?? 'resync');
    return 'requeue_after';
  }

  /** At once the first time: what was stale in the cache is usually there by now. */
  #again(key: string): ReconcileOutcome {
    const first = this.#conflicts.failuresOf(key) === 0;
    const delayMs = this.#conflicts.next(key);
    this.#options.queue.addAfter(key, first ? 0 : delayMs, 'change');
    return 'requeue';
  }

  #failed(key: string, id: string, error: unknown, signal: AbortSignal): ReconcileOutcome {
    const { log, name, queue } = this.#options;
    if (isConflict(error)) return this.#again(key);
    this.#conflicts.forget(key);
    const delayMs = Math.round(queue.addBackoff(key, 'first'));
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const fields = { controller: name, ...namesOf(key), reconcileID: id, delayMs, error: cause };
    if (signal.aborted) log.info('reconcile abandoned', fields);
    else log.error('reconcile failed', fields);
    return 'error';
  }
}

function whenAborted(signal: AbortSignal | undefined, then: (reason: unknown) => void): void {
  if (signal?.aborted === true) then(signal.reason);
  else signal?.addEventListener('abort', () => then(signal.reason), { once: true });
}

function namesOf(key: string): { readonly namespace?: string; readonly name: string } {
  const [name = key, namespace] = key.split('/').reverse();
  return namespace === undefined ? { name } : { namespace, name };
}
