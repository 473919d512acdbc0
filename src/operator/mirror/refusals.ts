import { isDenied, isNothingThere, KubeError } from '../kube/errors.ts';
import { type ConfigMapAction, ForeignConfigMapError } from './config-map-writer.ts';
import { Turns, type TurnsOptions } from './turns.ts';

/** As the cache has it, before it is tried. */
export type Intent = ConfigMapAction | 'foreign';

/** Nobody tells when a right is granted, or a quota raised: whoever does that waits for it. */
const denied = { maxMs: 30_000 };
/** One that is in the way says nothing of the others, and each is to be looked at again. */
const foreign = { maxMs: 30_000, paceMs: 5_000 };

/**
 * ConfigMaps whose writes are refused, as for want of a right, by a quota, or because the name is taken. Each is tried once, so
 * that what only some are refused holds up no other. After that those that want the same, and are refused it alike, have one of
 * them try for all.
 */
export class Refusals {
  readonly #options: Omit<TurnsOptions, 'maxMs' | 'paceMs'>;
  readonly #turns = new Map<string, Turns>();
  readonly #waiting = new Map<string, { readonly intent: Intent; readonly turns: Turns }>();

  constructor(options: Omit<TurnsOptions, 'maxMs' | 'paceMs'>) {
    this.#options = options;
  }

  /** Whether what is to be done may be tried now; else the key is enqueued when it may. */
  mayTry(key: string, intent: Intent): boolean {
    const waits = this.#waiting.get(key);
    if (waits === undefined || waits.intent === intent) return waits?.turns.mayTry(key) ?? true;
    this.#leave(key);
    return true;
  }

  /** Whether the key waits for its turn; else it is to be tried again by itself. */
  failed(key: string, intent: Intent, error: Error): boolean {
    const waits = this.#waiting.get(key);
    // What else may come of its turn, as while the API server is away, is no end of the refusal.
    const turns = this.#turnsFor(intent, error) ?? waits?.turns;
    if (turns === undefined) return false;
    if (waits?.turns !== turns) this.#leave(key);
    this.#waiting.set(key, { intent, turns });
    turns.refused(key, error instanceof KubeError ? error.retryAfterMs : undefined);
    return true;
  }

  /** It was done. */
  through(key: string): void {
    this.#waiting.get(key)?.turns.through(key);
    this.#waiting.delete(key);
  }

  #leave(key: string): void {
    this.#waiting.get(key)?.turns.leave(key);
    this.#waiting.delete(key);
  }

  #turnsFor(intent: Intent, error: Error): Turns | undefined {
    if (error instanceof ForeignConfigMapError) return this.#turnsOf('foreign', foreign);
    // Without its namespace none can be created.
    return isDenied(error) || isNothingThere(error) ? this.#turnsOf(intent, denied) : undefined;
  }

  #turnsOf(sort: Intent, bounds: Pick<TurnsOptions, 'maxMs' | 'paceMs'>): Turns {
    const turns = this.#turns.get(sort) ?? new Turns({ ...this.#options, ...bounds });
    this.#turns.set(sort, turns);
    return turns;
  }
}
