import type { TroubleKind } from '../kind.ts';
import { calls, goesTo, isMutating, ms, options, probability, service } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

export const slowActs: TroubleKind = {
  about: 'the connection breaks, and the service carries the request out some time after that',
  begin: toRequests({
    name: 'slow-acts',
    options: options({
      to: service,
      calls: calls.default('mutating'),
      probability: probability.default(0.3),
      /** The others break at once. */
      breaksWithinMs: ms.default(8_000),
      actsWithinMs: ms.default(90_000),
    }),
    concerns: (flight, options) =>
      goesTo(flight, options) && !flight.isWatch && (options.calls === 'all' || isMutating(flight)),
    effect: (_, { options, chance }) => {
      const breaksAfterMs = chance.chance(0.5) ? 1 : chance.between(1, options.breaksWithinMs);
      return { breaksAfterMs, delayMs: breaksAfterMs + chance.between(0, options.actsWithinMs) };
    },
  }),
  plan: (chance) =>
    lasting(chance, [5, 120], {
      to: chance.pick(['cloud', 'cloud', 'kube', 'agents']),
      calls: chance.pick(['mutating', 'mutating', 'all']),
      probability: chance.pick([0.3, 0.6, 1]),
      actsWithinMs: chance.pick([5_000, 30_000, 90_000]),
    }),
};
