import type { Priority } from '../../common/priority.ts';

const windowMs = 60_000;
// Covers what the completion time cannot: clocks that run at slightly different rates and a server's rounding.
const marginMs = 500;

/**
 * Counts requests as the server may count them. A request arrives at some unknown time between its start and its
 * answer, so it takes a slot from its start until a window after its answer: whenever the slots in use stay within
 * a limit, no rolling minute of the server sees more arrivals than that limit.
 */
export class RollingWindow {
  readonly #finished: { readonly priority: Priority; readonly leavesAt: number }[] = [];
  readonly #used: Record<Priority, number> = { change: 0, first: 0, resync: 0 };
  #running = 0;

  get running(): number {
    return this.#running;
  }

  get total(): number {
    return this.#used.change + this.#used.first + this.#used.resync;
  }

  used(priority: Priority): number {
    return this.#used[priority];
  }

  start(priority: Priority): void {
    this.#running += 1;
    this.#used[priority] += 1;
  }

  /** `sent` false gives the slot back at once: the server never saw the request. */
  finish(priority: Priority, sent: boolean, now: number): void {
    this.#running -= 1;
    if (sent) this.#finished.push({ priority, leavesAt: now + windowMs + marginMs });
    else this.#used[priority] -= 1;
  }

  /** Forgets what has left the window. */
  advance(now: number): void {
    while ((this.#finished[0]?.leavesAt ?? Number.POSITIVE_INFINITY) <= now) {
      const left = this.#finished.shift();
      if (left !== undefined) this.#used[left.priority] -= 1;
    }
  }

  /** When the next slot is given back by time alone. */
  nextChange(): number | undefined {
    return this.#finished[0]?.leavesAt;
  }
}
