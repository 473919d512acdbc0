import { z } from 'zod';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';
import { gatewayShape, passesGateway } from './calls.ts';
import { inForeignWords } from './foreign-words.ts';
import { insteadOf } from './instead.ts';

const statuses = [500, 502, 503, 504] as const;

export const gateway5xx: TroubleKind = {
  about: 'a gateway before the cloud answers 500, 502, 503 or 504',
  begin: toRequests({
    name: 'gateway-5xx',
    options: options({
      ...gatewayShape,
      /** Default any of them. */
      status: z.literal(statuses).optional(),
      /** The share of the calls that the cloud carried out nevertheless. */
      carriedOut: probability.default(0),
      /** Of a 503: `Retry-After` in seconds. */
      retryAfter: z.int().min(0).optional(),
    }),
    concerns: passesGateway,
    effect: (_, { options, chance }) => {
      const status = options.status ?? chance.pick(statuses);
      const headers: Record<string, string> =
        status === 503 && options.retryAfter !== undefined ? { 'retry-after': String(options.retryAfter) } : {};
      const answer = inForeignWords(chance, status, 'upstream failed', headers);
      return insteadOf(answer, chance.chance(options.carriedOut));
    },
  }),
  plan: (chance) =>
    lasting(chance, [2, 90], {
      calls: chance.pick(['all', 'mutating']),
      probability: chance.pick([0.3, 1]),
      carriedOut: chance.pick([0, 0.5, 1]),
      ...(chance.chance(0.5) ? { status: 503, retryAfter: chance.pick([0, 5, 30]) } : {}),
    }),
};
