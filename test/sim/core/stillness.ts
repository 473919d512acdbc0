import type { Change } from '../../../src/reference/kube-api/store/history.ts';
import type { World } from './world.ts';

/** For these reasons nothing is tried for up to ten minutes, and for the others up to five. */
const seldom = ['Rejected', 'Conflict', 'Unauthorized', 'Deleting'];
const longerMs = 5 * 60_000;

/** When something last became of a resource: it came or went, or was asked to be or is said to be otherwise. */
export class Stillness {
  readonly #world: Pick<World, 'scheduler'>;
  readonly #seldom = new Set<string | undefined>();
  #since = 0;

  constructor(world: Pick<World, 'scheduler' | 'onChange'>) {
    this.#world = world;
    world.onChange((change) => {
      if (!isNews(change)) return;
      this.stir();
      const { type, current } = change;
      if (type !== 'DELETED' && isSeldom(current.object)) this.#seldom.add(current.object.metadata.uid);
      else this.#seldom.delete(current.object.metadata.uid);
    });
  }

  /** Something is about to become of one. */
  stir(): void {
    this.#since = this.#world.scheduler.now;
  }

  /** Whether nothing has for so long, or longer where that says little; false where nobody says how long. */
  lasts(ms = Number.POSITIVE_INFINITY): boolean {
    return this.#world.scheduler.now - this.#since >= (this.#seldom.size === 0 ? ms : ms + longerMs);
  }
}

/** What operators note for themselves, in annotations, is none: of what is refused they do at each try. */
export function isNews({ current, previous, type }: Change): boolean {
  const { kind } = current.object;
  if (kind === 'Lease' || kind === 'Event') return false;
  return type !== 'MODIFIED' || contentOf(current.object) !== contentOf(previous?.object);
}

function contentOf(object: object | undefined): string {
  const { metadata, ...content } = (object ?? {}) as { readonly metadata?: { readonly deletionTimestamp?: string } };
  return JSON.stringify([content, metadata?.deletionTimestamp]);
}

function isSeldom(object: object): boolean {
  const { status } = object as { readonly status?: { readonly conditions?: readonly Condition[] } };
  return (status?.conditions ?? []).some(({ type, reason }) => type === 'Ready' && seldom.includes(reason));
}

interface Condition {
  readonly type: string;
  readonly reason: string;
}
