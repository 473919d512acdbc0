import type { EventObject } from './event-object.ts';
import { microTime } from './micro-time.ts';

/** One event and how often it has happened. */
export class EventSeries {
  #event: EventObject;
  #count = 0;
  #lastAt = 0;
  #written = false;

  constructor(event: EventObject) {
    this.#event = event;
  }

  get event(): EventObject {
    return this.#event;
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  count(now: number): void {
    this.#count++;
    this.#lastAt = now;
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
