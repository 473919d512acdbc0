import { z } from 'zod';
import type { Chance } from '../../core/random.ts';
import { changedList, type Item, isListing } from '../cloud-list.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chanceOf, toRequests } from '../requests.ts';

const oddities = ['null', 'wrong-type', 'missing', 'extra'] as const;
const fields = ['id', 'uri', 'created_at', 'description', 'metadata', 'addr', 'region', 'name', 'active'] as const;

const schema = options({
  probability: probability.default(1),
  how: z.enum(oddities).default('null'),
  /** Default one that the item has, but its id. */
  field: z.enum(fields).optional(),
});

function odd(item: Item, { how, field }: z.output<typeof schema>, chance: Chance): object {
  const named = field ?? chance.pick(Object.keys(item).filter((name) => name !== 'id'));
  const { [named]: value, ...rest } = item;
  if (how === 'missing') return rest;
  if (how === 'null') return { ...item, [named]: null };
  if (how === 'wrong-type') return { ...item, [named]: isText(value) ? { text: value } : 'odd' };
  return { ...item, added_of_late: { by: 'a newer version of the service' } };
}

const name = 'odd-items';

export const oddItems: TroubleKind = {
  about: 'one item of a list has a field of a wrong type, lacks it, or has one that nobody knows',
  begin: toRequests({
    name,
    options: schema,
    concerns: isListing,
    effect: (_, { options, world }) => {
      const chance = chanceOf(world, name, options);
      // Always the same of those that are there.
      const weight = (item: Item) => chance.of(String(item.description ?? item.name ?? item.id)).next();
      const change = (items: readonly Item[]) => {
        const least = Math.min(...items.map(weight));
        return items.map((item) => (weight(item) === least ? (odd(item, options, chance.of('how')) as Item) : item));
      };
      return { change: (answer) => changedList(answer, ({ items }) => ({ items: change(items) })) };
    },
  }),
  plan: (chance) =>
    lasting(chance, [30, 400], {
      how: chance.pick(oddities),
      ...(chance.chance(0.5) ? { field: chance.pick(fields) } : {}),
    }),
};

/** What is not there may be a text: a text in its place would be another content, and nothing odd. */
function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
