import { z } from 'zod';
import type { Chance } from '../../core/random.ts';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { again } from '../moments.ts';
import { ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { nameOf, type Replica, replicasOf } from '../replicas.ts';
import { chanceOf } from '../requests.ts';

const name = 'clock-jumps';

const schema = options({
  /** Default all. */
  installation: z.string().optional(),
  /** Of every replica, each time. */
  probability: probability.default(1),
  everyMs: ms.default(20_000),
  /** How far off a clock is set, forward or back. */
  upToMs: ms.default(900_000),
  /** Just so far, and once. */
  toMs: z.number().optional(),
  /** In the end clocks are right again. */
  back: z.boolean().default(true),
});

const begin: Trouble = (world, given) => {
  const { installation, probability, everyMs, upToMs, toMs, back } = schema.parse(given);
  const replicas = replicasOf(world, installation);
  const set = ({ installation, index }: Replica, ms: number) =>
    world.installations.get(installation)?.setClock(index, ms);
  const jumped = new Set<Replica>();
  const jump = (moment: Chance) => {
    for (const replica of replicas) {
      const chance = moment.of(nameOf(replica));
      if (!chance.chance(probability)) continue;
      jumped.add(replica);
      set(replica, toMs ?? chance.int(-upToMs, upToMs));
    }
  };
  const chance = chanceOf(world, name, given);
  jump(chance);
  const stop = toMs === undefined ? again(world, everyMs, chance, jump) : () => {};
  return () => {
    stop();
    if (back) for (const replica of jumped) set(replica, 0);
  };
};

export const clockJumps: TroubleKind = {
  about: 'the wall clocks of operators are set forward or back by up to 15 min',
  begin,
  plan: (chance, { installations }) =>
    lasting(chance, [20, 400], {
      probability: chance.pick([0.5, 1]),
      everyMs: chance.pick([10_000, 60_000, 500_000]),
      upToMs: chance.pick([90_000, 900_000]),
      back: chance.chance(0.7),
      ...(chance.chance(0.5) ? { installation: chance.pick(installations).name } : {}),
    }),
};
