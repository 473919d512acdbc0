import type { Flight } from '../../core/network.ts';
import type { Trouble } from '../../core/run.ts';
import { installationOf } from '../../oracles/witness/who.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chancesOf } from '../requests.ts';

const name = 'mixed-answers';

const schema = options({ probability: probability.default(1) });

const begin: Trouble = (world, given) => {
  const { probability } = schema.parse(given);
  const { network } = world;
  const chances = chancesOf(world, name, given);
  /** The last one of each that was answered. */
  const earlier = new Map<string, Flight>();
  const observe = (flight: Flight) => {
    const asked = askedOf(flight);
    const status = flight.answer?.status;
    if (asked !== undefined && (status === 200 || status === 201)) earlier.set(asked, flight);
  };
  const rule = (flight: Flight) => {
    const { method, path, answer } = earlier.get(askedOf(flight) ?? '') ?? {};
    // To a look, an answer about the same object would be an older state of it, which nobody can tell.
    if (answer === undefined || (path === flight.path && method === 'GET')) return undefined;
    return chances.of(flight).chance(probability) ? { change: () => answer } : undefined;
  };
  network.observers.add(observe);
  network.rules.add(rule);
  return () => {
    network.observers.delete(observe);
    network.rules.delete(rule);
    chances.close();
  };
};

/**
 * What is alike whatever object it is about, where it is about one. Each operator has a gateway of its own: what others made
 * just now, who are no resources, is not told apart from what was asked for (docs/reliability.md).
 */
function askedOf({ from, to, method, path }: Flight): string | undefined {
  const [, collection = moduleIn(method, path), id] = /^\/(reserved_addrs|bot_users)(\/[^/?]+)?$/.exec(path) ?? [];
  const isOfOne = method === 'POST' || method === 'PUT' || id !== undefined;
  const by = installationOf(from.name);
  const isConcerned = by !== undefined && to.name === 'cloud' && collection !== '' && isOfOne;
  return isConcerned ? `${by} ${method} ${collection}` : undefined;
}

/** Only of what is put in place: nothing in a module says whose it is, so that of a look nobody can tell. */
function moduleIn(method: string, path: string): string {
  return method === 'PUT' ? (/^\/edges\/.*\/([^/?]+)$/.exec(path)?.[1] ?? '') : '';
}

export const mixedAnswers: TroubleKind = {
  about:
    'something between an operator and the cloud mixes up answers: a call about an object gets that of an earlier one about another, or of an earlier change',
  begin,
  plan: (chance) => lasting(chance, [10, 120], { probability: chance.pick([0.3, 1]) }),
};
