import { z } from 'zod';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { again } from '../moments.ts';
import { ms, options } from '../options.ts';
import { lasting } from '../plan.ts';
import { chanceOf } from '../requests.ts';

const name = 'restarts';

const schema = options({
  /** Default all. */
  installation: z.string().optional(),
  everyMs: ms.default(12_000),
});

const begin: Trouble = (world, given) => {
  const { installation, everyMs } = schema.parse(given);
  return again(world, everyMs, chanceOf(world, name, given), () => {
    for (const [name, each] of world.installations) if ((installation ?? name) === name) each.restart();
  });
};

export const restarts: TroubleKind = {
  about: 'operators are restarted in an orderly way, again and again',
  begin,
  plan: (chance, { installations }) =>
    lasting(chance, [20, 180], {
      everyMs: chance.pick([3_000, 12_000, 40_000]),
      ...(chance.chance(0.5) ? { installation: chance.pick(installations).name } : {}),
    }),
};
