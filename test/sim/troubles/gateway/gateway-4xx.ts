import { z } from 'zod';
import { empty, html, json } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';
import { gatewayShape, passesGateway } from './calls.ts';
import { insteadOf } from './instead.ts';

const statuses = [400, 401, 403, 407, 413, 421, 451] as const;

export const gateway4xx: TroubleKind = {
  about:
    'a gateway before the cloud refuses calls in words of its own: 400, 401, 403, 407, 413, 421 or 451, though the cloud may have carried them out',
  begin: toRequests({
    name: 'gateway-4xx',
    options: options({
      ...gatewayShape,
      /** Default any of them. */
      status: z.literal(statuses).optional(),
      /** The share of the calls that the cloud carried out nevertheless. */
      carriedOut: probability.default(0.5),
    }),
    concerns: passesGateway,
    effect: (_, { options, chance }) => {
      const status = options.status ?? chance.pick(statuses);
      const message = 'the request was blocked';
      const answer = chance.pick([empty(status), html(status, message), json(status, { message })]);
      return insteadOf(answer, chance.chance(options.carriedOut));
    },
  }),
  plan: (chance) =>
    lasting(chance, [2, 90], {
      calls: chance.pick(['all', 'mutating']),
      probability: chance.pick([0.3, 1]),
      carriedOut: chance.pick([0, 0.5, 1]),
    }),
};
