import type { OpenStream } from '../../core/network.ts';
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
