import type { Chance } from '../../core/random.ts';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { again } from '../moments.ts';
import { ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chanceOf } from '../requests.ts';
import { watchNameOf } from './streams.ts';

const name = 'compacted';

const schema = options({
  everyMs: ms.default(10_000),
  /** Of the watches that are cut each time: the others did not miss anything. */
  probability: probability.default(1),
});

const begin: Trouble = (world, given) => {
  const { everyMs, probability } = schema.parse(given);
  const chance = chanceOf(world, name, given);
  const compact = (moment: Chance) => {
    world.kube.compact();
    for (const stream of [...world.network.streams]) {
      if (moment.of(watchNameOf(stream)).chance(probability)) stream.cut(true);
    }
  };
  compact(chance);
  return again(world, everyMs, chance, compact);
};

export const compacted: TroubleKind = {
  about: 'the history of Kubernetes is forgotten and watches are cut: they resume with 410',
  begin,
  plan: (chance) =>
    lasting(chance, [10, 180], {
      everyMs: chance.pick([2_000, 10_000, 40_000]),
      probability: chance.pick([0.5, 1]),
    }),
};
