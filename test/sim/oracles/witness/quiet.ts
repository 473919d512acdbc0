import { cloudModelOf, isMutating } from './cloud-model.ts';
import { kubeModelOf } from './kube-model.ts';
import { perWorld, second, type Witness } from './witness.ts';

export const quietMs = 30 * second;

/** Tells of moments before which nothing was written, changed or done for a while. */
export class QuietMoments {
  readonly listeners = new Set<() => void>();
  readonly #world: Witness;
  readonly #acts: readonly number[];
  #lastAt = 0;
  #isWaiting = false;

  constructor(world: Witness) {
    this.#world = world;
    this.#acts = world.story.acts.map((act) => act.at).toSorted((a, b) => a - b);
    kubeModelOf(world).writes.add(({ kind }) => kind !== 'Lease' && this.#stir());
    cloudModelOf(world).calls.add((call) => isMutating(call) && this.#stir());
  }

  #stir(): void {
    this.#lastAt = this.#world.scheduler.now;
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#waitUntil(this.#lastAt + quietMs);
  }

  #waitUntil(at: number): void {
    const { scheduler } = this.#world;
    scheduler.after(at - scheduler.now, () => {
      const { now } = scheduler;
      const last = Math.max(this.#lastAt, this.#acts.findLast((act) => act <= now) ?? 0);
      if (now < last + quietMs) return this.#waitUntil(last + quietMs);
      this.#isWaiting = false;
      for (const listen of this.listeners) listen();
    });
  }
}

export const quietMomentsOf = perWorld((world) => new QuietMoments(world));
