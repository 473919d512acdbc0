import type { Change } from '../../../../src/reference/kube-api/store/history.ts';
import type { Flight } from '../../core/network.ts';
import type { Answer } from '../../core/server.ts';
import type { Story } from '../../core/story.ts';
import type { Beginning, Ending, LogLine } from '../../core/world.ts';

/** All that an oracle sees of a world: a World has it, and a fabricated one in tests. */
export interface Witness {
  readonly story: Story;
  readonly scheduler: {
    readonly now: number;
    after(ms: number, run: () => void): () => void;
  };
  readonly network: {
    readonly observers: Set<(flight: Flight) => void>;
    readonly sendings: Set<(flight: Flight) => void>;
    readonly arrivals: Set<(flight: Flight, answer: Answer) => void>;
  };
  readonly kube: {
    readonly store: { subscribe(listener: (change: Change) => void, end?: () => void): () => void };
    snapshot(): { readonly objects: Iterable<readonly [storage: string, Change['current']]> };
  };
  readonly agents: {
    readonly all: readonly {
      readonly origin: string;
      tunnels(): readonly { readonly name: string; readonly proto: string; readonly config: object }[];
    }[];
  };
  readonly logs: readonly LogLine[];
  readonly beginnings: readonly Beginning[];
  readonly endings: readonly Ending[];
}

/** A time, with both its ends. */
export type Span = readonly [from: number, to: number];

/** What is made once for each world, by whoever asks first. */
export function perWorld<T>(make: (world: Witness) => T): (world: Witness) => T {
  const made = new WeakMap<Witness, T>();
  return (world) => {
    const known = made.get(world);
    if (known !== undefined) return known;
    const fresh = make(world);
    made.set(world, fresh);
    return fresh;
  };
}

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
