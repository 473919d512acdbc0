import { Backoff, type BackoffOptions } from '../../common/backoff.ts';
import type { Clock } from '../../common/clock.ts';
import { moreUrgent, type Priority, rankOf } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { ReadyList } from './ready-list.ts';
import { Timers } from './timers.ts';

/** What controller-runtime's workqueue metrics are made of; times in milliseconds. */
export interface QueueHooks {
  /** A key that was not waiting yet has been added: `workqueue_adds_total`. */
  onAdd?(priority: Priority): void;
  /** A key has been handed out: `workqueue_queue_duration_seconds`. */
  onStart?(waitedMs: number): void;
  /** Work on a key is done: `workqueue_work_duration_seconds`. */
  onDone?(workedMs: number): void;
  /** A key has been added with backoff: `workqueue_retries_total`. */
  onRetry?(): void;
}

export interface WorkQueueOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  /** A key that has waited this much longer overtakes one of the next more urgent class; default 30 s. */
  readonly ageingMs?: number | undefined;
  /** Default 1 s to 5 min. */
  readonly backoff?: BackoffOptions | undefined;
  readonly hooks?: QueueHooks | undefined;
  /** Default one lane that is never full. */
  readonly lanes?: Lanes | undefined;
}

/** Keys that wait for the same: beyond so many being worked on, others of that lane and class stay in the queue. */
export interface Lanes {
  readonly of: (key: string) => string;
  readonly most: number;
}

interface Bounds {
  readonly atLeastMs?: number | undefined;
  readonly atMostMs?: number | undefined;
}

interface Running {
  readonly lane: string;
  readonly priority: Priority;
  /** Until it last went to wait elsewhere. */
  workedMs: number;
  /** Undefined while it waits elsewhere. */
  since: number | undefined;
}

/**
 * Keys that need work. A key waits at most once, in the most urgent class it was added with, and is never handed out
 * while it is being worked on: added then, it is delivered after `done`.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #hooks: QueueHooks;
  readonly #backoff: Backoff;
  readonly #ready: ReadyList;
  readonly #timers: Timers;
  readonly #lanes: Lanes;
  readonly #running = new Map<string, Running>();
  /** How many of a lane and class are being worked on. */
  readonly #inLane = new Map<string, number>();
  #onOvertaken: ((key: string) => void) | undefined;
  #onReady: (() => void) | undefined;
  /** Keys added while being worked on. */
  readonly #again = new Map<string, Priority>();
  #closed = false;

  constructor(options: WorkQueueOptions) {
    const { monotonic, random, ageingMs = 30_000 } = options;
    this.#clock = monotonic;
    this.#hooks = options.hooks ?? {};
    this.#backoff = new Backoff(options.backoff ?? { minMs: 1_000, maxMs: 300_000 }, random);
    this.#lanes = options.lanes ?? { of: () => '', most: Number.POSITIVE_INFINITY };
    this.#ready = new ReadyList(ageingMs);
    this.#timers = new Timers(monotonic, (key, priority) => this.add(key, priority));
  }

  /** Now. Leaves a later `addAfter` of the key in place. */
  add(key: string, priority: Priority): void {
    if (this.#closed) return;
    if (this.#running.has(key)) this.#addAgain(key, priority);
    else this.#addReady(key, priority);
  }

  /** In `ms` milliseconds; of several such for one key the earliest counts. */
  addAfter(key: string, ms: number, priority: Priority): void {
    if (this.#closed) return;
    if (ms <= 0) this.add(key, priority);
    else this.#timers.add(key, ms, priority);
  }

  /** Later the more often this was called since `forget`, up to `atMostMs` and not before `atLeastMs`; answers the delay in ms. */
  addBackoff(
    key: string,
    priority: Priority,
    { atLeastMs = 0, atMostMs = Number.POSITIVE_INFINITY }: Bounds = {},
  ): number {
    const delayMs = Math.max(Math.min(this.#backoff.next(key), atMostMs), atLeastMs);
    this.#hooks.onRetry?.();
    // What was to come sooner was so before that was asked for.
    if (atLeastMs > 0) this.#timers.forget(key);
    this.addAfter(key, delayMs, priority);
    return delayMs;
  }

  /** The key succeeded: its next backoff starts small again. */
  forget(key: string): void {
    this.#backoff.forget(key);
  }

  /** The next key, which then is the caller's until `done`; undefined when none may be taken, or the queue is closed. */
  take(): string | undefined {
    const now = this.#clock.now();
    const isFull = (lane: string, priority: Priority) => this.#countIn(lane, priority) >= this.#lanes.most;
    const ready = this.#closed ? undefined : this.#ready.take(now, isFull);
    if (ready === undefined) return undefined;
    const { lane, priority } = ready;
    this.#running.set(ready.key, { lane, priority, workedMs: 0, since: now });
    this.#inLane.set(`${priority} ${lane}`, this.#countIn(lane, priority) + 1);
    this.#hooks.onStart?.(ready.waitedMs);
    return ready.key;
  }

  /** Work on the key waits for something else; until {@link resume} that time does not count. */
  leave(key: string): void {
    const running = this.#running.get(key);
    if (running?.since === undefined) return;
    running.workedMs += this.#clock.now() - running.since;
    running.since = undefined;
  }

  resume(key: string): void {
    const running = this.#running.get(key);
    if (running !== undefined) running.since = this.#clock.now();
  }

  done(key: string): void {
    this.leave(key);
    const running = this.#running.get(key);
    if (running === undefined) return;
    this.#running.delete(key);
    this.#leaveLane(running);
    this.#hooks.onDone?.(running.workedMs);
    const priority = this.#again.get(key);
    this.#again.delete(key);
    if (priority !== undefined) this.add(key, priority);
    else if (this.#ready.size > 0) this.#onReady?.();
  }

  /** Calls `handler` when there may be another key to take. */
  onReady(handler: () => void): void {
    this.#onReady = handler;
  }

  /** Calls `handler` when a key is added as more urgent than the class that the work on it was begun in. */
  onOvertaken(handler: (key: string) => void): void {
    this.#onOvertaken = handler;
  }

  /** Drops what waits. */
  close(): void {
    this.#closed = true;
    this.#timers.close();
  }

  /** Keys waiting to be handed out, without those whose time is to come: `workqueue_depth`. */
  depth(): number {
    return this.#ready.size;
  }

  /** Sum over the keys being worked on, without waits elsewhere: `workqueue_unfinished_work_seconds`. */
  unfinishedMs(): number {
    return [...this.#running.values()].reduce((sum, { workedMs, since }) => sum + workedMs + this.#sinceMs(since), 0);
  }

  /** Since one last came to its worker, or back to it; 0 when idle: `workqueue_longest_running_processor_seconds`. */
  longestRunningMs(): number {
    let longest = 0;
    for (const { since } of this.#running.values()) longest = Math.max(longest, this.#sinceMs(since));
    return longest;
  }

  #sinceMs(since: number | undefined): number {
    return since === undefined ? 0 : this.#clock.now() - since;
  }

  #countIn(lane: string, priority: Priority): number {
    return this.#inLane.get(`${priority} ${lane}`) ?? 0;
  }

  #leaveLane({ lane, priority }: Running): void {
    const left = this.#countIn(lane, priority) - 1;
    if (left > 0) this.#inLane.set(`${priority} ${lane}`, left);
    else this.#inLane.delete(`${priority} ${lane}`);
  }

  #addReady(key: string, priority: Priority): void {
    if (this.#ready.add(key, this.#lanes.of(key), priority, this.#clock.now())) this.#hooks.onAdd?.(priority);
    this.#onReady?.();
  }

  #addAgain(key: string, priority: Priority): void {
    const present = this.#again.get(key);
    this.#again.set(key, present === undefined ? priority : moreUrgent(present, priority));
    const begunAs = this.#running.get(key)?.priority;
    if (begunAs !== undefined && rankOf(priority) < rankOf(begunAs)) this.#onOvertaken?.(key);
  }
}
