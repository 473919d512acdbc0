import type { Chance } from '../../core/random.ts';
import type { Act, ObjectRef } from '../../core/story.ts';
import { annotate, apply, edit, manifestOf, note, remove } from '../acts.ts';
import { otherSpec, roleOf } from '../content.ts';
import { type CastResource, isOfCloud, type Scene } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

type Way = (user: CastResource, at: number, chance: Chance, scene: Scene) => readonly Act[];

const ways: readonly Way[] = [
  (user, at, chance) => [apply(at, manifestOf({ ...user, spec: otherSpec(roleOf(user), user.spec, chance) }))],
  (user, at) => [remove(at, user)],
  (user, at, chance, scene) => [remove(at, user), apply(after(chance, scene, at, 1, 5_000), manifestOf(user))],
  (user, at) => (isOfCloud(user) ? [edit(at, user, { deletionPolicy: 'Retain' }), remove(at + 50, user)] : []),
];

function usersOf({ kind, namespace, name }: ObjectRef, { resources }: Scene): readonly CastResource[] {
  const here = resources.filter((each) => each.namespace === namespace);
  if (kind === 'Agent') return here.filter((each) => roleOf(each).agent === name);
  return here.filter((each) => isOfCloud(each) && each.account === name);
}

/** Mostly from shortly after the birth of one that uses it, which is changed or deleted shortly before the pause or in it. */
function pause(host: ObjectRef, chance: Chance, scene: Scene): readonly Act[] {
  const users = usersOf(host, scene);
  const user = users.length === 0 ? undefined : chance.pick(users);
  const isNear = user !== undefined && chance.chance(0.7);
  const at = isNear ? after(chance, scene, user.bornAt, 1, 3_000) : someTime(chance, scene);
  const back = after(chance, scene, at, 10, 60_000);
  const between = chance.int(Math.max(0, at - 300), back);
  return [
    annotate(at, host, { [note.paused]: 'true' }),
    ...(user === undefined ? [] : chance.pick(ways)(user, between, chance, scene)),
    annotate(back, host, { [note.paused]: null }),
  ];
}

export const accountsPaused: Habit = {
  about: 'accounts and agents are paused for a time, in which what uses them is edited or deleted',
  plan: (chance, scene) => {
    const accounts = scene.accounts.map((account) => ({ kind: 'CloudAccount', ...account }));
    const agents = scene.resources.filter(({ kind }) => kind === 'Agent');
    return chance
      .shuffled<ObjectRef>([...accounts, ...agents])
      .slice(0, chance.int(1, 3))
      .flatMap((host) => Array.from({ length: chance.int(1, 3) }, () => pause(host, chance, scene)).flat());
  },
};
