import type { TroubleKind } from '../kind.ts';
import { goesTo, ms, options, probability, service } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

export const lostRequests: TroubleKind = {
  about: 'requests to a service never arrive',
  begin: toRequests({
    name: 'lost-requests',
    options: options({
      to: service,
      probability: probability.default(0.3),
      /** Of the lost, the share whose client sees the connection break; the others hear nothing more. */
      broken: probability.default(0.5),
      breaksWithinMs: ms.default(15_000),
    }),
    concerns: goesTo,
    effect: (_, { options, chance }) => ({
      lost: 'request',
      ...(chance.chance(options.broken) ? { breaksAfterMs: chance.between(1, options.breaksWithinMs) } : {}),
    }),
  }),
  plan: (chance) =>
    lasting(chance, [5, 120], {
      to: chance.pick(['cloud', 'cloud', 'kube', 'agents']),
      probability: chance.pick([0.1, 0.3, 0.6, 1]),
      broken: chance.pick([0, 0.5, 1]),
    }),
};
