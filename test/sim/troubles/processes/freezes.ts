import { z } from 'zod';
import type { Flight, Position } from '../../core/network.ts';
import type { Chance } from '../../core/random.ts';
import type { Trouble } from '../../core/run.ts';
import type { World } from '../../core/world.ts';
import type { TroubleKind } from '../kind.ts';
import { again } from '../moments.ts';
import { ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { nameOf, type Replica, replicaNameOf, replicasOf } from '../replicas.ts';
import { chanceOf, chancesOf } from '../requests.ts';

const name = 'freezes';

const schema = options({
  /** Default all. */
  installation: z.string().optional(),
  /** At moments of their own, or just as they do something. */
  when: z.enum(['any', 'requests']).default('any'),
  /** Of every replica at each moment, or at each boundary of a request. */
  probability: probability.default(0.5),
  /** Between two moments. */
  everyMs: ms.default(15_000),
  fromMs: ms.default(1_000),
  toMs: ms.default(60_000),
});

const begin: Trouble = (world, given, forMs) => {
  const { installation, when, probability, everyMs, fromMs, toMs } = schema.parse(given);
  const freeze = freezer(world, forMs);
  const meet = (replica: Replica, chance: Chance) => {
    if (chance.chance(probability)) freeze(replica, chance.int(fromMs, toMs));
  };
  const replicas = replicasOf(world, installation);
  if (when === 'requests') return atRequests(world, chancesOf(world, name, given), replicas, meet);
  return again(world, everyMs, chanceOf(world, name, given), (moment) => {
    for (const replica of replicas) meet(replica, moment.of(nameOf(replica)));
  });
};

/** One freeze at a time, and none longer than the trouble. */
function freezer({ scheduler, installations }: World, forMs: number) {
  const end = scheduler.now + forMs;
  const until = new Map<Replica, number>();
  return (replica: Replica, wantedMs: number) => {
    const { now } = scheduler;
    const ms = Math.min(wantedMs, Math.floor(end - now));
    if (ms <= 0 || now < (until.get(replica) ?? 0)) return;
    until.set(replica, now + ms);
    installations.get(replica.installation)?.freeze(replica.index, ms);
  };
}

function atRequests(
  { network }: World,
  chances: ReturnType<typeof chancesOf>,
  replicas: readonly Replica[],
  meet: (replica: Replica, chance: Chance) => void,
): () => void {
  const byName = new Map(replicas.map((replica) => [nameOf(replica), replica]));
  const pass = (flight: Flight, position: Position) => {
    const replica = byName.get(replicaNameOf(flight.from));
    if (replica !== undefined) meet(replica, chances.of(flight).of(position));
    return false;
  };
  network.crashes.add(pass);
  return () => {
    network.crashes.delete(pass);
    chances.close();
  };
}

export const freezes: TroubleKind = {
  about: 'operators stand still for 1 to 60 s, at any moment or just between two requests',
  begin,
  plan: (chance) => {
    const when = chance.pick(['any', 'requests']);
    return lasting(chance, [20, 240], {
      when,
      probability: when === 'any' ? 0.5 : chance.pick([0.01, 0.05]),
      toMs: chance.pick([8_000, 30_000, 60_000]),
    });
  },
};
