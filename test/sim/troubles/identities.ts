import type { Flight } from '../core/network.ts';
import type { World } from '../core/world.ts';
import { ObjectNames } from './object-names.ts';
import { replicaNameOf } from './replicas.ts';

/** What a request is known by: who asks whom for what, and how many times the same was asked before. */
export type Identity = readonly [text: string, before: number];

/** As the operator names its Events, by time and chance. */
const eventSuffix = /(\/events\/[^/]+?)\.[0-9a-f]+\.[0-9a-f]+$/;

/**
 * Tells requests apart by what they are about, never by their place among all requests: what a trouble does to one
 * stays the same when something else is taken out of the story.
 */
export class Identities {
  readonly #names: ObjectNames;
  readonly #counts = new Map<string, number>();
  readonly #known = new WeakMap<Flight, Identity>();

  constructor(world: World) {
    this.#names = new ObjectNames(world);
  }

  of(flight: Flight): Identity {
    const known = this.#known.get(flight);
    if (known !== undefined) return known;
    const text = this.#text(flight);
    const before = this.#counts.get(text) ?? 0;
    this.#counts.set(text, before + 1);
    const identity = [text, before] as const;
    this.#known.set(flight, identity);
    return identity;
  }

  close(): void {
    this.#names.close();
  }

  #text({ from, to, method, path, body = '' }: Flight): string {
    const what = to.name === 'kube' ? kubePath(path) : this.#names.in(`${path} ${body}`);
    return `${replicaNameOf(from)} ${to.name} ${method} ${what}`;
  }
}

/** Without what differs from one run to the next: revisions, timeouts, continuations. */
function kubePath(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://kube');
  const kept = ['watch', 'fieldSelector', 'labelSelector'].map((name) => searchParams.get(name) ?? '');
  return [pathname.replace(eventSuffix, '$1'), ...kept].join(' ');
}
