import type { Act } from '../../core/story.ts';
import { refOf, remove } from '../acts.ts';
import { ownText, referents } from '../content.ts';
import { isNeeded, isOfCloud } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

export const annotationsCopied: Habit = {
  about: 'a resource is copied with all its annotations to another name or namespace, while it is being made too',
  plan: (chance, scene) =>
    chance
      .shuffled(scene.resources)
      .slice(0, chance.int(1, 3))
      .flatMap((from, index) => {
        const to = {
          namespace: chance.pick(isOfCloud(from) ? [from.namespace, 'a', 'b', 'c'] : [from.namespace]),
          name: `${from.name}-copy-${index}`,
        };
        const text = ownText({ ...to, kind: from.kind });
        const spec = {
          ...(from.kind === 'ReservedAddr' && { description: text }),
          ...(from.kind === 'BotUser' && { name: text }),
          ...(from.namespace !== to.namespace && { accountRef: null }),
        };
        const early = chance.chance(0.4);
        const at = early ? after(chance, scene, from.bornAt, 5, 100) : someTime(chance, scene, from.bornAt);
        const copy = { ...to, kind: from.kind };
        const later = after(chance, scene, at, 100, 60_000);
        const first = chance.pick(isNeeded(from) ? [[], [copy]] : [[], [from], [copy], [from, copy], [copy, from]]);
        const isNew = !scene.resources.some(({ namespace }) => namespace === to.namespace);
        const copied: Act = { at, do: 'copy', from: refOf(from), to, patch: { spec } };
        return [
          ...(isNew ? referents(to.namespace, chance.of(index), at) : []),
          copied,
          ...first.map((each, order) => remove(later + order * 1_000, each)),
        ];
      }),
};
