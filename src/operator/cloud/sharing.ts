import type { Priority } from '../../common/priority.ts';
import { windowMs } from './rolling-window.ts';
import type { Standing } from './tenants.ts';
import { shareOf, type Use } from './use.ts';

/** Of a shared window, which changes may use up at once; the rest comes evenly over the minute. */
const atOnceShare = 1 / 2;
/** Of a shared window: so many changes of a namespace are sent before those of any that had more, and at once. */
const lightShare = 1 / 12;
/** Of a shared window: kept for those. */
const keptShare = 1 / 40;

/** What is in use of a window: all of it, and the part of who asks. */
export interface InUse {
  readonly limit: number;
  readonly all: Use;
  readonly own: Use;
}

/** How a window that several may ask for is never used up for long. */
export class Sharing {
  /** Several accounts, or several namespaces, may ask for it. */
  isShared = false;
  /** Requests in the window of the part that is given out evenly. */
  #paced = 0;
  #nextAt = Number.NEGATIVE_INFINITY;

  standingOf(priority: Priority, inUse: InUse, now: number): Standing {
    if (!this.isShared) return 'in turn';
    const { limit, all } = inUse;
    if (priority === 'change' && isLight(inUse)) return 'ahead';
    if (all.total >= limit - Math.floor(limit * keptShare)) return 'not now';
    if (priority !== 'change') return 'in turn';
    return now >= this.#nextAt || !this.#isPaced(inUse) ? 'in turn' : 'not now';
  }

  /** A request starts; answers whether it is of the part that is given out evenly. */
  start(priority: Priority, inUse: InUse, now: number): boolean {
    if (priority !== 'change' || !this.#isPaced(inUse)) return false;
    const { limit } = inUse;
    this.#nextAt = now + windowMs / Math.max(1, limit - shareOf(limit, atOnceShare));
    this.#paced += 1;
    return true;
  }

  /** One of that part has left the window. */
  left(): void {
    this.#paced -= 1;
  }

  /** When the next of that part may start, if that is to come. */
  nextAt(now: number): number | undefined {
    return this.#nextAt > now ? this.#nextAt : undefined;
  }

  #isPaced(inUse: InUse): boolean {
    if (!this.isShared || isLight(inUse)) return false;
    return inUse.all.total - this.#paced >= shareOf(inUse.limit, atOnceShare);
  }
}

/** It has asked for little of late. */
function isLight({ limit, own }: InUse): boolean {
  return own.of('change') < shareOf(limit, lightShare);
}
