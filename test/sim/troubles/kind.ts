import type { Chance } from '../core/random.ts';
import type { Trouble } from '../core/run.ts';
import type { Story } from '../core/story.ts';

/** Who is there to be troubled. */
export type Cast = Pick<Story, 'installations' | 'cloud'>;

export interface Plan {
  readonly forMs: number;
  readonly with?: Readonly<Record<string, unknown>>;
  /** How long after its end somebody who does all right may still wait because of it, where that is long. */
  readonly aftermathMs?: number;
}

/** One perturbation, by its name in `index.ts`. */
export interface TroubleKind {
  /** One line for people. */
  readonly about: string;
  /** Begins it in a world, with options; returns what ends it. */
  readonly begin: Trouble;
  /** How long, and with which options, for a story. */
  readonly plan: (chance: Chance, cast: Cast) => Plan;
}
