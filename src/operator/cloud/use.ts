import type { Priority } from '../../common/priority.ts';

/** What of a window is in use, by class, and what the classes may take of it. */
export class Use {
  readonly #used: Record<Priority, number> = { change: 0, first: 0, resync: 0 };

  get total(): number {
    return this.#used.change + this.#used.first + this.#used.resync;
  }

  of(priority: Priority): number {
    return this.#used[priority];
  }

  add(priority: Priority): void {
    this.#used[priority] += 1;
  }

  remove(priority: Priority): void {
    this.#used[priority] -= 1;
  }

  /** Within `limit`; `resync` only within half of it, `resync` and `first` together within three quarters, at least 1. */
  admits(priority: Priority, limit: number): boolean {
    if (this.total >= limit) return false;
    if (priority === 'change') return true;
    if (priority === 'resync' && this.of('resync') >= shareOf(limit, 1 / 2)) return false;
    return this.of('resync') + this.of('first') < shareOf(limit, 3 / 4);
  }
}

/** A part of a limit, at least 1. */
export function shareOf(limit: number, part: number): number {
  return Math.max(1, Math.floor(limit * part));
}
