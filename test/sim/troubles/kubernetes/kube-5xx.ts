import { z } from 'zod';
import { ApiError } from '../../../../src/reference/kube-api/api-error.ts';
import type { Answer } from '../../core/server.ts';
import { kubeRefusal } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

const statuses = [500, 503, 429] as const;

function refused(status: (typeof statuses)[number], retryAfterSeconds: number | undefined): Answer {
  if (status === 500) {
    return kubeRefusal(new ApiError(500, 'InternalError', 'Internal error occurred: etcdserver: request timed out'));
  }
  const [reason, message] =
    status === 429
      ? ['TooManyRequests', 'Too many requests, please try again later.']
      : ['ServiceUnavailable', 'the server is currently unable to handle the request'];
  if (retryAfterSeconds === undefined) return kubeRefusal(new ApiError(status, reason, message));
  const error = new ApiError(status, reason, message, { retryAfterSeconds });
  return kubeRefusal(error, { 'retry-after': String(retryAfterSeconds) });
}

export const kube5xx: TroubleKind = {
  about: 'Kubernetes refuses requests: 500, 503, or 429 with Retry-After',
  begin: toRequests({
    name: 'kube-5xx',
    options: options({
      probability: probability.default(0.3),
      /** Default any of them. */
      status: z.literal(statuses).optional(),
      /** Seconds; of a 429 at least 1. */
      retryAfter: z.int().min(0).optional(),
    }),
    concerns: ({ to }) => to.name === 'kube',
    effect: (_, { options, chance }) => {
      const status = options.status ?? chance.pick(statuses);
      const least = status === 429 ? 1 : undefined;
      return { instead: refused(status, options.retryAfter ?? least) };
    },
  }),
  plan: (chance) =>
    lasting(chance, [5, 120], {
      probability: chance.pick([0.1, 0.3, 1]),
      ...(chance.chance(0.5) ? { retryAfter: chance.pick([1, 5, 30]) } : {}),
    }),
};
