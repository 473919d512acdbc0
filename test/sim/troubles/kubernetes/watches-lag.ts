import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chanceOf } from '../requests.ts';
import { bewitch } from './streams.ts';

const name = 'watches-lag';

const schema = options({
  /** Of the watches: the others are as quick as ever. */
  probability: probability.default(1),
  upToMs: ms.default(10_000),
});

const begin: Trouble = (world, given) => {
  const { probability, upToMs } = schema.parse(given);
  return bewitch(world, {
    probability,
    chance: chanceOf(world, name, given),
    cast: (stream, own) => stream.lag(own.between(0, upToMs)),
  });
};

export const watchesLag: TroubleKind = {
  about: 'watches tell late, each by a time of its own',
  begin,
  plan: (chance) =>
    lasting(chance, [10, 180], {
      probability: chance.pick([0.5, 1]),
      upToMs: chance.pick([500, 5_000, 40_000]),
    }),
};
