import type { EventObject } from './event-object.ts';
import { microTime } from './micro-time.ts';

/** One event and how often it has happened. */
export class EventSeries {
  #event: EventObject;
  #count = 0;
  #lastAt = 0;
  #countedAt = 0;
  #written = false;

  constructor(event: EventObject) {
    this.#event = event;
  }

  get event(): EventObject {
    return this.#event;
  }

  /** When it was counted last, on the monotonic clock. */
  get countedAt(): number {
    return this.#countedAt;
  }

  /** It happened at a time that people are shown, and at a moment of the monotonic clock. */
  count(at: number, now: number): void {
    this.#count++;
    this.#lastAt = at;
    this.#countedAt = now;
    if (this.#count > 1 && !this.#written) this.#event = { ...this.#event, ...this.#state() };
  }

  written(): void {
    this.#written = true;
  }

  /** What to change in the written event; undefined when it is yet to be created. */
  patch(): Pick<Required<EventObject>, 'series'> | undefined {
    return this.#written ? this.#state() : undefined;
  }

  #state(): Pick<Required<EventObject>, 'series'> {
    return { series: { count: this.#count, lastObservedTime: microTime(this.#lastAt) } };
  }
}
