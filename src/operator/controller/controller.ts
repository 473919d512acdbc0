import { Backoff } from '../../common/backoff.ts';
import type { Clock } from '../../common/clock.ts';
import { JoinedSignal } from '../../common/joined-signal.ts';
import type { Log } from '../../common/log.ts';
import type { Priority } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { isConflict } from '../kube/errors.ts';
import type { WorkQueue } from './queue.ts';

/** When to look at the key again. */
export type ReconcileResult =
  /** When something changes. */
  | { readonly kind: 'done' }
  /** In `ms` milliseconds, as a `resync` unless it says otherwise. */
  | { readonly kind: 'after'; readonly ms: number; readonly priority?: Priority }
  /** Later and later, not before `atLeastMs`. */
  | { readonly kind: 'backoff'; readonly atLeastMs?: number }
  /** At once, as after a 409 from Kubernetes; repeated ones are slowed down a little. */
  | { readonly kind: 'again' };

export interface ReconcileRequest {
  readonly key: string;
  /** Of this one reconcile, for logs. */
  readonly id: string;
  /** Aborts when waiting is over: the work is to be abandoned, or the key has more urgent work to do. */
  readonly signal: AbortSignal;
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
  /** Reconciles at a time, and a quarter as many more for `change` alone; never two of one key. */
  readonly concurrency: number;
  readonly log: Log;
  readonly metrics?: ControllerMetrics | undefined;
}

/** Works through a queue of keys and puts each back as its reconcile asked. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #conflicts: Backoff;
  readonly #running = new Map<string, { readonly startedAt: number; readonly overtaken: AbortController }>();

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#clock = options.monotonic;
    this.#conflicts = new Backoff({ minMs: 20, maxMs: 2_000 }, options.random);
    options.queue.onOvertaken((key) =>
      this.#running.get(key)?.overtaken.abort(new Error('something more urgent came')),
    );
  }

  /**
   * Starts no reconcile once `signal` aborts, and resolves when those in flight have ended; `abandon` is the signal they
   * are given.
   */
  async run(signal: AbortSignal, abandon?: AbortSignal): Promise<void> {
    const { concurrency } = this.#options;
    // Drift checks may all be waiting for the account's budget: what a user changed must not wait behind them.
    const express = Math.ceil(concurrency / 4);
    await Promise.all([
      ...Array.from({ length: concurrency }, () => this.#work(signal, abandon)),
      ...Array.from({ length: express }, () => this.#work(signal, abandon, 'change')),
    ]);
  }

  /** How long the oldest running reconcile has been at it; 0 when idle. One that only grows makes no progress. */
  oldestReconcileMs(): number {
    const now = this.#clock.now();
    return Math.max(0, ...[...this.#running.values()].map(({ startedAt }) => now - startedAt));
  }

  async #work(signal: AbortSignal, abandon: AbortSignal | undefined, only?: Priority): Promise<void> {
    const { queue } = this.#options;
    for (let key = await queue.take(signal, only); key !== undefined; key = await queue.take(signal, only)) {
      try {
        await this.#reconcile(key, abandon);
      } finally {
        queue.done(key);
      }
    }
  }

  async #reconcile(key: string, abandon: AbortSignal | undefined): Promise<void> {
    const { metrics, reconcile, uuid } = this.#options;
    const id = uuid();
    const startedAt = this.#clock.now();
    const overtaken = new AbortController();
    using joined = new JoinedSignal(abandon, overtaken.signal);
    const { signal } = joined;
    this.#running.set(key, { startedAt, overtaken });
    metrics?.onActiveWorkers?.(this.#running.size);
    let outcome: ReconcileOutcome;
    try {
      outcome = this.#requeue(key, await reconcile({ key, id, signal }));
    } catch (error) {
      outcome = this.#failed(key, id, error, signal);
    }
    this.#running.delete(key);
    metrics?.onActiveWorkers?.(this.#running.size);
    metrics?.onReconcile?.(outcome, (this.#clock.now() - startedAt) / 1_000);
  }

  #requeue(key: string, result: ReconcileResult): ReconcileOutcome {
    const { queue } = this.#options;
    if (result.kind === 'again') return this.#again(key);
    this.#conflicts.forget(key);
    if (result.kind === 'backoff') {
      queue.addBackoff(key, 'first', { atLeastMs: result.atLeastMs });
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

function namesOf(key: string): { readonly namespace?: string; readonly name: string } {
  const [name = key, namespace] = key.split('/').reverse();
  return namespace === undefined ? { name } : { namespace, name };
}
