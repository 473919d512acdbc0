import { z } from 'zod';
import type { Effect, Flight } from '../../core/network.ts';
import type { Chance } from '../../core/random.ts';
import { mainKey } from '../../core/story.ts';
import { refusal } from '../answers.ts';
import { changedList, isListing } from '../cloud-list.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';
import { isWithKey, someKey } from './keys.ts';

/** What is made there is made: only what was there before is not found. */
function elsewhere(flight: Flight, chance: Chance): Effect | undefined {
  if (isListing(flight)) return { change: (answer) => changedList(answer, () => ({ items: [], next: null })) };
  if (flight.method === 'POST') return undefined;
  return { instead: refusal(404, 'resourceUnknown', 'no object with that id', chance) };
}

export const emptyAccount: TroubleKind = {
  about: 'with a key nothing is found for a while, as if it opened another account',
  begin: toRequests({
    name: 'empty-account',
    options: options({ key: z.string().default(mainKey), probability: probability.default(1) }),
    concerns: isWithKey,
    effect: (flight, { chance }) => elsewhere(flight, chance),
  }),
  plan: (chance, cast) =>
    lasting(chance, [5, 300], { key: someKey(chance, cast), probability: chance.pick([0.5, 1, 1]) }),
};
