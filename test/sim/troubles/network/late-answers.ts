import type { TroubleKind } from '../kind.ts';
import { goesTo, ms, options, probability, service } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

export const lateAnswers: TroubleKind = {
  about: 'answers of a service arrive late, after the client has given up or not',
  begin: toRequests({
    name: 'late-answers',
    options: options({ to: service, probability: probability.default(0.5), upToMs: ms.default(30_000) }),
    // Of watches `watches-lag` is the like.
    concerns: (flight, options) => goesTo(flight, options) && !flight.isWatch,
    effect: (_, { options, chance }) => ({ answerDelayMs: chance.between(0, options.upToMs) }),
  }),
  plan: (chance) =>
    lasting(chance, [5, 120], {
      to: chance.pick(['cloud', 'cloud', 'kube', 'kube', 'agents']),
      probability: chance.pick([0.2, 0.5, 1]),
      upToMs: chance.pick([3_000, 12_000, 60_000]),
    }),
};
