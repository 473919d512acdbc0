import { z } from 'zod';
import type { Trouble } from '../../core/run.ts';
import { secondKey } from '../../core/story.ts';
import { otherKeys } from '../cloud/keys.ts';
import type { TroubleKind } from '../kind.ts';
import { options } from '../options.ts';
import { lasting } from '../plan.ts';
import { overridden } from './overridden.ts';

const schema = options({ installation: z.string(), apiKey: z.string().default(secondKey) });

const begin: Trouble = (world, given) => {
  const { installation, apiKey } = schema.parse(given);
  return overridden(world, installation, { apiKey });
};

export const wrongKey: TroubleKind = {
  about: "an operator is restarted with another account's key, and back",
  begin,
  plan: (chance, cast) => {
    const { installation, foreign } = otherKeys(chance, cast);
    // Longer than two witnesses are apart, a lone object is rightly taken for gone.
    return lasting(chance, [5, 50], { installation, apiKey: chance.pick(foreign) });
  },
};
