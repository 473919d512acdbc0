import { type Clock, cancelled } from '../../common/clock.ts';
import { moreUrgent, type Priority } from '../../common/priority.ts';
import { Heap } from './heap.ts';

interface Timer {
  readonly key: string;
  readonly dueAt: number;
  readonly priority: Priority;
}

/** Keys that come due later, one timer for all of them. */
export class Timers {
  readonly #clock: Clock;
  readonly #fire: (key: string, priority: Priority) => void;
  readonly #byKey = new Map<string, Timer>();
  readonly #heap = new Heap<Timer>((a, b) => a.dueAt < b.dueAt);
  #sleep: { readonly until: number; readonly abort: AbortController } | undefined;
  #closed = false;

  constructor(clock: Clock, fire: (key: string, priority: Priority) => void) {
    this.#clock = clock;
    this.#fire = fire;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Of several for one key the earliest stays, with the most urgent class. */
  add(key: string, delayMs: number, priority: Priority): void {
    const present = this.#byKey.get(key);
    const timer = {
      key,
      dueAt: Math.min(this.#clock.now() + delayMs, present?.dueAt ?? Number.POSITIVE_INFINITY),
      priority: present === undefined ? priority : moreUrgent(present.priority, priority),
    };
    if (timer.dueAt === present?.dueAt && timer.priority === present.priority) return;
    this.#byKey.set(key, timer);
    this.#heap.push(timer);
    this.#schedule();
  }

  forget(key: string): void {
    this.#byKey.delete(key);
  }

  close(): void {
    this.#closed = true;
    this.#byKey.clear();
    this.#sleep?.abort.abort(cancelled);
  }

  #schedule(): void {
    const next = this.#next();
    if (this.#closed || next === undefined || (this.#sleep !== undefined && this.#sleep.until <= next.dueAt)) return;
    this.#sleep?.abort.abort(cancelled);
    const sleep = { until: next.dueAt, abort: new AbortController() };
    this.#sleep = sleep;
    const delayMs = Math.max(0, Math.ceil(next.dueAt - this.#clock.now()));
    this.#clock.sleep(delayMs, sleep.abort.signal).then(
      () => this.#wake(sleep),
      () => {},
    );
  }

  #wake(sleep: { readonly until: number }): void {
    if (this.#sleep !== sleep) return;
    this.#sleep = undefined;
    for (let next = this.#next(); next !== undefined && next.dueAt <= this.#clock.now(); next = this.#next()) {
      this.#heap.pop();
      this.#byKey.delete(next.key);
      this.#fire(next.key, next.priority);
    }
    this.#schedule();
  }

  /** The earliest, past those that an earlier one of the same key has replaced. */
  #next(): Timer | undefined {
    for (let top = this.#heap.peek(); top !== undefined; top = this.#heap.peek()) {
      if (this.#byKey.get(top.key) === top) return top;
      this.#heap.pop();
    }
    return undefined;
  }
}
