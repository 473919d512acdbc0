import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { again } from '../moments.ts';
import { ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chanceOf } from '../requests.ts';
import { watchNameOf } from './streams.ts';

const name = 'watches-cut';

const schema = options({
  everyMs: ms.default(5_000),
  /** Of the watches, each time. */
  probability: probability.default(0.5),
  /** The share that ends as if the server had ended it. */
  cleanly: probability.default(0.5),
});

const begin: Trouble = (world, given) => {
  const { everyMs, probability, cleanly } = schema.parse(given);
  return again(world, everyMs, chanceOf(world, name, given), (moment) => {
    for (const stream of [...world.network.streams]) {
      const chance = moment.of(watchNameOf(stream));
      if (chance.chance(probability)) stream.cut(chance.chance(cleanly));
    }
  });
};

export const watchesCut: TroubleKind = {
  about: 'watches end, cleanly or not',
  begin,
  plan: (chance) =>
    lasting(chance, [10, 180], {
      everyMs: chance.pick([500, 3_000, 20_000]),
      probability: chance.pick([0.2, 0.5, 1]),
      cleanly: chance.pick([0, 0.5, 1]),
    }),
};
