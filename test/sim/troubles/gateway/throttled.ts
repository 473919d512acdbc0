import { z } from 'zod';
import { epochMs } from '../../core/process.ts';
import type { World } from '../../core/world.ts';
import { refusal } from '../answers.ts';
import type { TroubleKind } from '../kind.ts';
import { options } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';
import { gatewayShape, passesGateway } from './calls.ts';

const texts = ['absent', '0', '7', '3600', 'date', 'garbage'] as const;

function retryAfter(text: (typeof texts)[number], skewMs: number, { scheduler }: World): Record<string, string> {
  if (text === 'absent') return {};
  if (text === 'garbage') return { 'retry-after': 'soon, I hope' };
  if (text !== 'date') return { 'retry-after': text };
  return { 'retry-after': new Date(epochMs + scheduler.now + 7_000 + skewMs).toUTCString() };
}

export const throttled: TroubleKind = {
  about: '429 before the cloud, with a Retry-After that is right, absent or nonsense',
  begin: toRequests({
    name: 'throttled',
    options: options({
      ...gatewayShape,
      retryAfter: z.enum(texts).default('7'),
      /** How far the clock is off by which a `date` is told. */
      skewMs: z.number().default(0),
    }),
    concerns: passesGateway,
    effect: (_, { options, chance, world }) => ({
      instead: refusal(
        429,
        'rateLimited',
        'too many requests',
        chance,
        retryAfter(options.retryAfter, options.skewMs, world),
      ),
    }),
  }),
  plan: (chance) => {
    const text = chance.pick(texts);
    const skewMs = text === 'date' ? chance.int(-600, 600) * 1_000 : 0;
    return {
      ...lasting(chance, [2, 90], {
        calls: chance.pick(['all', 'mutating']),
        probability: chance.pick([0.1, 0.5, 1]),
        retryAfter: text,
        ...(skewMs === 0 ? {} : { skewMs }),
      }),
      // Whoever honours it waits so long.
      aftermathMs: text === '3600' ? 3_600_000 : Math.max(0, skewMs),
    };
  },
};
