import { type Clock, cancelled } from '../../common/clock.ts';

const everyMs = 2_000;
/** What comes so late is of a process that stood still: stopped, swapped out, or busy with one thing. */
export const lateMs = 3_000;

/** Beats while anybody follows it, to tell whether the process stood still meanwhile: of the time lost it has no other sign. */
export class Pulse {
  readonly #monotonic: Clock;
  #followers = 0;
  #stop = new AbortController();
  #beatAt = 0;
  #stoodStillUntil = Number.NEGATIVE_INFINITY;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  /**
   * Until it is disposed.
   *
   * @param heardWithinMs so long after it stood still it has heard of whatever happened meanwhile
   */
  follow(heardWithinMs: number): Disposable & { stoodStill(): boolean } {
    const startedAt = this.#monotonic.now();
    if (this.#followers === 0) this.#start(startedAt);
    else this.#look();
    this.#followers += 1;
    return {
      stoodStill: () => {
        // The beat itself may be as late as whoever asks.
        this.#look();
        return this.#stoodStillUntil > Math.max(startedAt, this.#monotonic.now() - heardWithinMs);
      },
      [Symbol.dispose]: () => {
        this.#followers -= 1;
        if (this.#followers === 0) this.#stop.abort(cancelled);
      },
    };
  }

  #start(now: number): void {
    this.#beatAt = now;
    this.#stop = new AbortController();
    this.#beat(this.#stop.signal).catch(() => {});
  }

  async #beat(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#monotonic.sleep(everyMs, signal);
      this.#look();
    }
  }

  #look(): void {
    const now = this.#monotonic.now();
    if (now - this.#beatAt >= everyMs + lateMs) this.#stoodStillUntil = now;
    this.#beatAt = now;
  }
}
