import { z } from 'zod';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { options } from '../options.ts';
import { lasting } from '../plan.ts';

const schema = options({ skewMs: z.number().default(90_000) });

const begin: Trouble = (world, given) => world.skew('cloud', schema.parse(given).skewMs);

export const cloudClock: TroubleKind = {
  about: "the cloud's clock is off: what it stamps on objects and answers",
  begin,
  // Ahead: what is made while a clock is set back and forth again cannot be told from what was there before.
  plan: (chance) => lasting(chance, [30, 600], { skewMs: chance.int(1, 900) * 1_000 }),
};
