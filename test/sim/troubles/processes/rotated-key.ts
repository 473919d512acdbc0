import { z } from 'zod';
import type { Trouble } from '../../core/run.ts';
import { secondKey } from '../../core/story.ts';
import { otherKeys } from '../cloud/keys.ts';
import type { TroubleKind } from '../kind.ts';
import { options } from '../options.ts';
import { lasting } from '../plan.ts';
import { installationOf } from './overridden.ts';

const schema = options({ installation: z.string(), apiKey: z.string().default(secondKey) });

const begin: Trouble = (world, given) => {
  const { installation, apiKey } = schema.parse(given);
  return installationOf(world, installation).rotate(apiKey);
};

export const rotatedKey: TroubleKind = {
  about: "the file with an operator's key holds another one while it runs, of its account or of another, and back",
  begin,
  plan: (chance, cast) => {
    const { installation, own, foreign } = otherKeys(chance, cast);
    const isOwn = own.length > 0 && chance.chance(0.4);
    // With a foreign one longer than two witnesses are apart, a lone object is rightly taken for gone.
    return lasting(chance, [5, isOwn ? 300 : 50], { installation, apiKey: chance.pick(isOwn ? own : foreign) });
  },
};
