import type { TroubleKind } from '../kind.ts';
import { goesTo, ms, options, probability, service } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

export const resets: TroubleKind = {
  about: 'connections to a service are reset, before it saw the request or after it carried it out',
  begin: toRequests({
    name: 'resets',
    options: options({
      to: service,
      probability: probability.default(0.3),
      /** Of the reset, the share that the service carried out. */
      carriedOut: probability.default(0.5),
      withinMs: ms.default(200),
    }),
    concerns: goesTo,
    effect: ({ isWatch }, { options, chance }) => ({
      lost: chance.chance(options.carriedOut) && !isWatch ? 'answer' : 'request',
      breaksAfterMs: chance.between(0, options.withinMs),
    }),
  }),
  plan: (chance) =>
    lasting(chance, [5, 120], {
      to: chance.pick(['cloud', 'cloud', 'kube', 'kube', 'agents']),
      probability: chance.pick([0.1, 0.3, 0.6]),
      carriedOut: chance.pick([0, 0.5, 1]),
    }),
};
