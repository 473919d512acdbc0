import type { TroubleKind } from '../kind.ts';
import { isMutating, ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

export const kubeLostAnswers: TroubleKind = {
  about: 'Kubernetes carries writes out, and its answers never arrive',
  begin: toRequests({
    name: 'kube-lost-answers',
    options: options({
      probability: probability.default(0.3),
      /** Of the lost, the share whose client sees the connection break; the others hear nothing more. */
      broken: probability.default(0.8),
      breaksWithinMs: ms.default(5_000),
    }),
    concerns: (flight) => flight.to.name === 'kube' && isMutating(flight),
    effect: (_, { options, chance }) => ({
      lost: 'answer',
      ...(chance.chance(options.broken) ? { breaksAfterMs: chance.between(3, options.breaksWithinMs) } : {}),
    }),
  }),
  plan: (chance) =>
    lasting(chance, [5, 120], { probability: chance.pick([0.1, 0.3, 0.7]), broken: chance.pick([0.5, 1]) }),
};
