import { z } from 'zod';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { options } from '../options.ts';
import { lasting } from '../plan.ts';
import { overridden } from './overridden.ts';

const schema = options({ installation: z.string(), shards: z.string().default('3') });

const begin: Trouble = (world, given) => {
  const { installation, shards } = schema.parse(given);
  return overridden(world, installation, { settings: { shards } });
};

export const resharded: TroubleKind = {
  about: 'an operator is restarted with another number of shards, and back',
  begin,
  plan: (chance, { installations }) =>
    lasting(chance, [5, 300], { installation: chance.pick(installations).name, shards: chance.pick(['1', '2', '3']) }),
};
