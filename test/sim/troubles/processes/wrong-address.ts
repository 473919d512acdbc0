import { z } from 'zod';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { options } from '../options.ts';
import { lasting } from '../plan.ts';
import { overridden } from './overridden.ts';

const schema = options({ installation: z.string(), apiUrl: z.string().default('http://other-cloud.sim') });

const begin: Trouble = (world, given) => {
  const { installation, apiUrl } = schema.parse(given);
  return overridden(world, installation, { settings: { apiUrl } });
};

export const wrongAddress: TroubleKind = {
  about: 'an operator is restarted with the address of another cloud, and back',
  begin,
  plan: (chance, { installations }) => {
    const { name, settings = {} } = chance.pick(installations);
    const elsewhere = settings.apiUrl === 'http://other-cloud.sim' ? { apiUrl: 'http://cloud.sim' } : {};
    return lasting(chance, [5, 300], { installation: name, ...elsewhere });
  },
};
