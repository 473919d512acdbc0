import { z } from 'zod';
import type { Flight } from '../../core/network.ts';
import { type CloudList, changedList, isListing } from '../cloud-list.ts';
import type { TroubleKind } from '../kind.ts';
import { options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { toRequests } from '../requests.ts';

const forms = ['same', 'again', 'empty'] as const;

/** Parameters that the service does not know are ignored by it. */
function nextOf({ to, path }: Flight, { items, next }: CloudList, form: (typeof forms)[number]): string {
  if (next !== null) return next;
  const here = new URL(path, to.origin);
  if (form === 'same') return here.href;
  const turn = Number(here.searchParams.get('turn') ?? 0) + 1;
  const before = items.at(-1)?.id ?? here.searchParams.get('before_id');
  const after = form === 'empty' && before !== null ? { before_id: before } : {};
  return `${to.origin}${here.pathname}?${new URLSearchParams({ ...after, limit: '100', turn: String(turn) })}`;
}

export const endlessPages: TroubleKind = {
  about: 'every page of a list of the cloud names another one',
  begin: toRequests({
    name: 'endless-pages',
    options: options({
      probability: probability.default(1),
      /** The last page names itself, the first page under another URI, or empty pages for ever. */
      form: z.enum(forms).default('empty'),
    }),
    concerns: isListing,
    effect: (flight, { options }) => ({
      change: (answer) => changedList(answer, (list) => ({ next: nextOf(flight, list, options.form) })),
    }),
  }),
  plan: (chance) => lasting(chance, [30, 400], { form: chance.pick(forms) }),
};
