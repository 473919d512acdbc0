import { z } from 'zod';
import { type Flight, type Position, positions } from '../../core/network.ts';
import type { Trouble } from '../../core/run.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { replicaNameOf } from '../replicas.ts';
import { chancesOf } from '../requests.ts';

const name = 'crashes';

/** One place where to die; what it does not say may be anything. */
const boundary = z.strictObject({
  /** Such as `op-0`. */
  replica: z.string().optional(),
  to: z.string().optional(),
  method: z.string().optional(),
  /** Without the query; `*` stands for one segment. */
  path: z.string().optional(),
  isWatch: z.boolean().default(false),
  /** Which of those, from 1. */
  nth: z.int().min(1).default(1),
  position: z.enum(positions),
});

const schema = options({
  /** Of each boundary. */
  probability: probability.default(0.02),
  /** Default anywhere. */
  position: z.enum(positions).optional(),
  /** Such as `cloud`; default any service. */
  to: z.string().optional(),
  installation: z.string().optional(),
  atMost: z.int().min(0).default(3),
  /** Once, there and nowhere else. */
  boundary: boundary.optional(),
});

type Wanted = z.output<typeof schema>;

const begin: Trouble = (world, given) => {
  const options = schema.parse(given);
  const chances = chancesOf(world, name, given);
  const dies = options.boundary === undefined ? anywhere(options, chances) : at(options.boundary);
  let left = options.boundary === undefined ? options.atMost : 1;
  const crash = (flight: Flight, position: Position) => {
    if (left === 0 || !dies(flight, position)) return false;
    left -= 1;
    return true;
  };
  world.network.crashes.add(crash);
  return () => {
    world.network.crashes.delete(crash);
    chances.close();
  };
};

function anywhere({ probability, position, to, installation }: Wanted, chances: ReturnType<typeof chancesOf>) {
  return (flight: Flight, here: Position) =>
    (position ?? here) === here &&
    (to ?? flight.to.name) === flight.to.name &&
    (installation === undefined || replicaNameOf(flight.from).startsWith(`${installation}-`)) &&
    chances.of(flight).of(here).chance(probability);
}

function at(wanted: z.output<typeof boundary>) {
  const path = wanted.path && new RegExp(`^${wanted.path.split('*').map(RegExp.escape).join('[^/]*')}$`);
  const matches = ({ from, to, method, path: asked, isWatch }: Flight) =>
    isWatch === wanted.isWatch &&
    (wanted.replica ?? replicaNameOf(from)) === replicaNameOf(from) &&
    (wanted.to ?? to.name) === to.name &&
    (wanted.method ?? method) === method &&
    (!path || path.test(asked.split('?', 1)[0] ?? ''));
  const seen = new WeakSet<Flight>();
  let count = 0;
  return (flight: Flight, position: Position) => {
    if (!matches(flight)) return false;
    if (!seen.has(flight)) count += 1;
    seen.add(flight);
    return count === wanted.nth && position === wanted.position;
  };
}

export const crashes: TroubleKind = {
  about: 'operators die around their requests: before or after sending, after the act, after the answer',
  begin,
  plan: (chance) =>
    lasting(chance, [10, 180], {
      probability: chance.pick([0.005, 0.02, 0.1]),
      atMost: chance.pick([1, 3, 10]),
      ...(chance.chance(0.3) ? { position: chance.pick(positions) } : {}),
      ...(chance.chance(0.5) ? { to: 'cloud' } : {}),
    }),
};
