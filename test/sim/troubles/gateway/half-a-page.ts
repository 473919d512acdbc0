import { z } from 'zod';
import type { Answer } from '../../core/server.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

/** As if that were all: of the right length. */
function half(answer: Answer): Answer {
  const body = answer.body.slice(0, answer.body.length / 2);
  const { 'content-length': _, ...headers } = answer.headers;
  return { ...answer, headers, body };
}

export const halfAPage: TroubleKind = {
  about: 'half of the body is missing from what the cloud answers to GETs',
  begin: toRequests({
    name: 'half-a-page',
    options: options({
      probability: probability.default(0.5),
      /** The connection breaks there, or the answer ends there as if it were whole. */
      ends: z.enum(['broken', 'cleanly']).default('broken'),
    }),
    concerns: ({ to, method }) => to.name === 'cloud' && method === 'GET',
    effect: (_, { options }) => (options.ends === 'broken' ? { halfTheBody: true } : { change: half }),
  }),
  plan: (chance) =>
    lasting(chance, [5, 90], {
      probability: chance.pick([0.3, 0.6, 1]),
      ends: chance.pick(['broken', 'cleanly']),
    }),
};
