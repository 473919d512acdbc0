import type { z } from 'zod';
import type { Effect, Flight } from '../core/network.ts';
import type { Chance } from '../core/random.ts';
import type { Trouble } from '../core/run.ts';
import type { World } from '../core/world.ts';
import { Identities } from './identities.ts';

/** What an effect may be made of. */
export interface Circumstances<Options> {
  readonly options: Options;
  /** Of this one request. */
  readonly chance: Chance;
  readonly world: World;
}

export interface RequestTrouble<Options> {
  readonly name: string;
  readonly options: z.ZodType<Options>;
  readonly concerns: (flight: Flight, options: Options) => boolean;
  readonly effect: (flight: Flight, circumstances: Circumstances<Options>) => Effect | undefined;
}

/** A trouble that meets single requests, each with a probability and for itself. */
export function toRequests<Options extends { readonly probability: number }>(
  trouble: RequestTrouble<Options>,
): Trouble {
  return (world, given) => {
    const options = trouble.options.parse(given);
    const chances = chancesOf(world, trouble.name, given);
    const rule = (flight: Flight): Effect | undefined => {
      if (!trouble.concerns(flight, options)) return undefined;
      const chance = chances.of(flight);
      return chance.chance(options.probability) ? trouble.effect(flight, { options, chance, world }) : undefined;
    };
    world.network.rules.add(rule);
    return () => {
      world.network.rules.delete(rule);
      chances.close();
    };
  };
}

/** A chance of its own for every request. */
export function chancesOf(world: World, name: string, options: Readonly<Record<string, unknown>>) {
  const identities = new Identities(world);
  const chance = chanceOf(world, name, options);
  return { of: (flight: Flight) => chance.of(...identities.of(flight)), close: () => identities.close() };
}

/** Of one trouble of a world. Of its options only the salt counts: without one of the others it meets the same requests. */
export function chanceOf({ chance }: World, name: string, { salt = 0 }: { readonly salt?: unknown }): Chance {
  return chance.of('trouble', name, String(salt));
}
