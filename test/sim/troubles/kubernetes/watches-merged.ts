import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chanceOf } from '../requests.ts';
import { bewitch } from './streams.ts';

const name = 'watches-merged';

const schema = options({
  /** Of the watches: the others are shown every state. */
  probability: probability.default(1),
  withinMs: ms.default(5_000),
});

const begin: Trouble = (world, given) => {
  const { probability, withinMs } = schema.parse(given);
  return bewitch(world, {
    probability,
    chance: chanceOf(world, name, given),
    cast: (stream) => stream.merge(withinMs),
  });
};

export const watchesMerged: TroubleKind = {
  about: 'watches show only the last of several states of an object',
  begin,
  plan: (chance) =>
    lasting(chance, [10, 180], {
      probability: chance.pick([0.5, 1]),
      withinMs: chance.pick([200, 2_000, 10_000]),
    }),
};
