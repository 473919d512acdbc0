import type { Clock } from '../../common/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is advanced. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#now;
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      });
    });
  }

  timeout(ms: number): AbortSignal {
    const timeout = new AbortController();
    void this.sleep(ms).then(() => timeout.abort(new DOMException('timed out', 'TimeoutError')));
    return timeout.signal;
  }

  /** Lets time pass, waking sleepers in order and letting what they start run before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (let next = this.#earliest(end); next !== undefined; next = this.#earliest(end)) {
      this.#now = Math.max(this.#now, next.at);
      this.#sleepers.delete(next);
      next.wake();
      await settled();
    }
    this.#now = end;
    await settled();
  }

  /** Lets time pass as for a stopped process: nothing runs meanwhile. */
  freeze(ms: number): void {
    this.#now += ms;
  }

  #earliest(end: number): Sleeper | undefined {
    const due = [...this.#sleepers].filter((sleeper) => sleeper.at <= end);
    return due.toSorted((a, b) => a.at - b.at)[0];
  }
}

/** Lets everything that can run without time passing do so. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
