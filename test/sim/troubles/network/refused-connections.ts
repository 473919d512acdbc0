import type { TroubleKind } from '../kind.ts';
import { goesTo, options, probability, service } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

export const refusedConnections: TroubleKind = {
  about: 'a service takes no connections',
  begin: toRequests({
    name: 'refused-connections',
    options: options({ to: service, probability: probability.default(1) }),
    concerns: goesTo,
    effect: () => ({ refused: true }),
  }),
  plan: (chance) =>
    lasting(chance, [2, 180], {
      to: chance.pick(['cloud', 'cloud', 'kube', 'kube', 'agents']),
      probability: chance.pick([0.3, 1, 1]),
    }),
};
