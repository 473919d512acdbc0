import type { OpenStream } from '../../core/network.ts';
import type { Chance } from '../../core/random.ts';
import type { World } from '../../core/world.ts';
import { replicaNameOf } from '../replicas.ts';

/** Who watches what, whichever time. */
export function watchNameOf({ flight: { from, path } }: OpenStream): string {
  const { pathname, searchParams } = new URL(path, 'http://kube');
  return `${replicaNameOf(from)} ${pathname} ${searchParams.get('fieldSelector') ?? ''}`;
}

/** Meets every watch, those that are open and those that begin later, until the function that it returns is called. */
export function toWatches({ network }: World, meet: (stream: OpenStream) => void): () => void {
  for (const stream of [...network.streams]) meet(stream);
  network.opened.add(meet);
  return () => network.opened.delete(meet);
}

interface Spell {
  /** Of the watches: the others are as they ever were. */
  readonly probability: number;
  readonly chance: Chance;
  /** Returns what ends it. */
  readonly cast: (stream: OpenStream, chance: Chance) => () => void;
}

/** Does something to a share of the watches, until the function that it returns is called. */
export function bewitch(world: World, { probability, chance, cast }: Spell): () => void {
  const ends = new Map<OpenStream, () => void>();
  const stop = toWatches(world, (stream) => {
    const own = chance.of(watchNameOf(stream));
    if (own.chance(probability)) ends.set(stream, cast(stream, own));
  });
  return () => {
    stop();
    for (const end of ends.values()) end();
  };
}
