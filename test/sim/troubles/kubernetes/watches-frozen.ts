import { z } from 'zod';
import type { OpenStream } from '../../core/network.ts';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chanceOf } from '../requests.ts';
import { toWatches, watchNameOf } from './streams.ts';

const name = 'watches-frozen';

const schema = options({
  probability: probability.default(1),
  /** Only those that are open when it begins. */
  openOnly: z.boolean().default(false),
  /** In the end they go on, or are cut and have missed all. */
  ends: z.enum(['thawed', 'cut']).default('thawed'),
});

const begin: Trouble = (world, given) => {
  const { probability, openOnly, ends } = schema.parse(given);
  const chance = chanceOf(world, name, given);
  const frozen = new Map<OpenStream, () => void>();
  const stop = toWatches(world, (stream) => {
    if (chance.of(watchNameOf(stream)).chance(probability)) frozen.set(stream, stream.hold());
  });
  if (openOnly) stop();
  return () => {
    stop();
    for (const [stream, thaw] of frozen) {
      if (ends === 'cut') stream.cut(false);
      thaw();
    }
  };
};

export const watchesFrozen: TroubleKind = {
  about: 'watches stay open and tell nothing',
  begin,
  plan: (chance) =>
    lasting(chance, [5, 300], {
      probability: chance.pick([0.3, 1]),
      openOnly: chance.chance(0.5),
      ends: chance.pick(['thawed', 'cut']),
    }),
};
