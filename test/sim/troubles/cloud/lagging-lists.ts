import { z } from 'zod';
import type { Flight } from '../../core/network.ts';
import type { Trouble } from '../../core/run.ts';
import type { Answer } from '../../core/server.ts';
import { type CloudList, changedList, type Item, isListing } from '../cloud-list.ts';
import type { TroubleKind } from '../kind.ts';
import { ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chancesOf } from '../requests.ts';
import { CloudHistory } from './history.ts';

const name = 'lagging-lists';

const schema = options({
  /** Of the lists; the others are up to date, as of another replica. */
  probability: probability.default(1),
  lagMs: ms.default(20_000),
  /** What was changed meanwhile is shown as it was, too. */
  contents: z.boolean().default(false),
});

const begin: Trouble = (world, given) => {
  const { probability, lagMs, contents } = schema.parse(given);
  const history = new CloudHistory(world);
  const chances = chancesOf(world, name, given);
  const rule = (flight: Flight) => {
    if (!isListing(flight) || !chances.of(flight).chance(probability)) return undefined;
    const change = (answer: Answer) => {
      const { now } = world.scheduler;
      const [then, today] = [history.at(flight, now - lagMs), history.at(flight, now)];
      const gone = [...then].flatMap(([id, item]) => (item !== undefined && today.get(id) === undefined ? item : []));
      return changedList(answer, (page) => {
        const old = page.items.filter(({ id }) => !then.has(id) || then.get(id) !== undefined);
        const shown = contents ? old.map((item) => then.get(item.id) ?? item) : old;
        return { items: newestFirst([...shown, ...gone.filter(belongsOn(page, flight))]) };
      });
    };
    return { change };
  };
  world.network.rules.add(rule);
  return () => {
    world.network.rules.delete(rule);
    chances.close();
    history.close();
  };
};

/** Between the first and the last item of the page, unless there is no page before or after. */
function belongsOn({ items, next }: CloudList, { path }: Flight): (item: Item) => boolean {
  const first = path.includes('before_id=') ? items.at(0) : undefined;
  const last = next === null ? undefined : items.at(-1);
  return (item) =>
    (first === undefined || made(item) < made(first)) && (last === undefined || made(item) >= made(last));
}

const newestFirst = (items: readonly Item[]) =>
  items.toSorted((a, b) => Number(made(a) < made(b)) - Number(made(a) > made(b)));

const made = (item: Item): string => String(item.created_at);

export const laggingLists: TroubleKind = {
  about: 'lists of the cloud do not show what was made of late, and still show what was deleted',
  begin,
  plan: (chance) =>
    lasting(chance, [30, 180], {
      lagMs: chance.pick([5_000, 20_000, 60_000]),
      probability: chance.pick([0.5, 1, 1]),
    }),
};
