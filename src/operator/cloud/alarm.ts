import { type Clock, cancelled } from '../../common/clock.ts';

/** Rings once, at the moment that was set last. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #set: { readonly at: number; readonly stop: AbortController } | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** @param at on its clock; undefined for never */
  set(at: number | undefined): void {
    if (this.#set?.at === at) return;
    this.#set?.stop.abort(cancelled);
    this.#set = undefined;
    if (at === undefined) return;
    const set = { at, stop: new AbortController() };
    this.#set = set;
    // Rounded up: a timer that fires a fraction early would find nothing to do.
    this.#clock.sleep(Math.ceil(at - this.#clock.now()), set.stop.signal).then(
      () => this.#due(set),
      () => {},
    );
  }

  #due(set: object): void {
    if (this.#set !== set) return;
    this.#set = undefined;
    this.#ring();
  }
}
