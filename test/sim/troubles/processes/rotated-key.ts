import { z } from 'zod';
import type { Trouble } from '../../core/run.ts';
import { mainKey, secondKey } from '../../core/story.ts';
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
    const withKey = cast.installations.filter(({ apiKey }) => apiKey !== null);
    const { name, apiKey } = chance.pick(withKey.length === 0 ? cast.installations : withKey);
    const { own, foreign } = otherKeys(cast, apiKey ?? mainKey);
    if (own.length > 0 && (foreign.length === 0 || chance.chance(0.4)))
      return lasting(chance, [5, 300], { installation: name, apiKey: chance.pick(own) });
    // Longer than two witnesses are apart, a lone object is rightly taken for gone.
    return lasting(chance, [5, 50], {
      installation: name,
      apiKey: foreign.length === 0 ? secondKey : chance.pick(foreign),
    });
  },
};
