import type { TroubleKind } from '../kind.ts';
import { calls, goesTo, isMutating, ms, options, probability, service } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

export const lostAnswers: TroubleKind = {
  about: 'a service carries requests out, and its answers never arrive',
  begin: toRequests({
    name: 'lost-answers',
    options: options({
      to: service,
      calls,
      probability: probability.default(0.3),
      /** Of the lost, the share whose client sees the connection break; the others hear nothing more. */
      broken: probability.default(0.5),
      breaksWithinMs: ms.default(15_000),
    }),
    concerns: (flight, options) =>
      goesTo(flight, options) && !flight.isWatch && (options.calls === 'all' || isMutating(flight)),
    effect: (_, { options, chance }) => ({
      lost: 'answer',
      ...(chance.chance(options.broken) ? { breaksAfterMs: chance.between(1, options.breaksWithinMs) } : {}),
    }),
  }),
  plan: (chance) =>
    lasting(chance, [5, 120], {
      to: chance.pick(['cloud', 'cloud', 'kube', 'agents']),
      calls: chance.pick(['all', 'mutating']),
      probability: chance.pick([0.1, 0.3, 0.6, 1]),
      broken: chance.pick([0, 0.5, 1]),
    }),
};
