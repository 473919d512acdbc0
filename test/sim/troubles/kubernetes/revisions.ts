import type { World } from '../../core/world.ts';

/** Which revision Kubernetes was at, at which time since this began. */
export class Revisions {
  readonly close: () => void;
  readonly #known: { readonly since: number; readonly revision: number }[];

  constructor(world: World) {
    const { scheduler, kube } = world;
    this.#known = [{ since: scheduler.now, revision: kube.store.revision }];
    this.close = world.onChange(({ revision }) => this.#known.push({ since: scheduler.now, revision }));
  }

  /** Of the time before this began nothing older is known than its beginning. */
  at(time: number): number {
    return (this.#known.findLast(({ since }) => since <= time) ?? this.#known[0])?.revision ?? 0;
  }
}
