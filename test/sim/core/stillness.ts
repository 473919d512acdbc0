import type { Change } from '../../../src/reference/kube-api/history.ts';
import type { World } from './world.ts';

/** When something last became of a resource: it came or went, or was asked to be or is said to be otherwise. */
export class Stillness {
  readonly #world: Pick<World, 'scheduler'>;
  #since = 0;

  constructor(world: Pick<World, 'scheduler' | 'onChange'>) {
    this.#world = world;
    world.onChange((change) => {
      if (isNews(change)) this.stir();
    });
  }

  /** Something is about to become of one. */
  stir(): void {
    this.#since = this.#world.scheduler.now;
  }

  /** Whether nothing has for so long; false where nobody says how long. */
  lasts(ms = Number.POSITIVE_INFINITY): boolean {
    return this.#world.scheduler.now - this.#since >= ms;
  }
}

/** What operators note for themselves, in annotations, is none: of what is refused they do at each try. */
function isNews({ current, previous, type }: Change): boolean {
  const { kind } = current.object;
  if (kind === 'Lease' || kind === 'Event') return false;
  return type !== 'MODIFIED' || contentOf(current.object) !== contentOf(previous?.object);
}

function contentOf(object: object | undefined): string {
  const { metadata, ...content } = (object ?? {}) as { readonly metadata?: { readonly deletionTimestamp?: string } };
  return JSON.stringify([content, metadata?.deletionTimestamp]);
}
