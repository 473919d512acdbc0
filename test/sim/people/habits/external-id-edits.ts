import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { annotate, byHand, foreignID, idOf, note, remove } from '../acts.ts';
import { keyOf } from '../cloud-keys.ts';
import { ownText, type Role } from '../content.ts';
import type { CastResource, Scene } from '../scene.ts';
import { after, logBetween, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

/** The one that is edited, and the one whose object it is made to point at. */
function pair(kind: string, index: number, chance: Chance, scene: Scene): readonly [CastResource, CastResource] {
  const own = (name: string, bornAt: number): CastResource => {
    const role: Role = { kind, namespace: chance.pick(['a', 'a', 'b']), name: `${name}-${index}` };
    const spec = kind === 'BotUser' ? { name: ownText(role) } : { description: ownText(role), region: 'us' };
    return { ...role, holds: 'main', spec, bornAt };
  };
  const bornAt = someTime(chance, scene, 2_000);
  return [own('pointer', bornAt), own('target', Math.max(0, bornAt - chance.int(-5_000, 20_000)))];
}

/** Objects of nobody: one that the spec of the pointer can be put on, and one that it cannot. */
function foreign({ kind, name, bornAt }: CastResource): readonly Act[] {
  const call = { key: keyOf('main'), method: 'POST' } as const;
  const objects: readonly (readonly [string, object])[] =
    kind === 'BotUser'
      ? [['any', { name: `foreign ${name}` }]]
      : [
          ['any', { description: `foreign ${name}` }],
          ['elsewhere', { description: `foreign ${name}`, region: 'eu' }],
        ];
  const path = kind === 'BotUser' ? '/bot_users' : '/reserved_addrs';
  return objects.map(([where, body]) =>
    byHand(Math.max(0, bornAt - 1_000), { ...call, path, body, name: `${name} ${where}` }),
  );
}

const pointersIn = ({ resources }: Scene) => resources.filter(({ name }) => name.startsWith('pointer-'));

export const externalIDEdits: Habit = {
  about: 'external-id is moved by hand: to a foreign object, to that of another resource, back; during a create too',
  cast: (chance, scene) => {
    const kinds = chance.pick([['ReservedAddr'], ['ReservedAddr', 'BotUser'], ['ReservedAddr', 'ReservedAddr']]);
    const resources = kinds.flatMap((kind, index) => pair(kind, index, chance, scene));
    return { ...scene, resources: [...scene.resources, ...resources] };
  },
  plan: (chance, scene) =>
    pointersIn(scene).flatMap((pointer) => {
      const { kind, namespace, name, bornAt } = pointer;
      const target = scene.resources.find((each) => each.name === name.replace('pointer', 'target')) ?? pointer;
      const elsewhere = kind === 'BotUser' ? 'any' : 'elsewhere';
      const wishes = [
        foreignID(`${name} any`),
        foreignID(`${name} ${elsewhere}`),
        idOf(target),
        idOf(pointer, 'made'),
        null,
      ];
      const set = (at: number, id: string | null) => annotate(at, { kind, namespace, name }, { [note.externalID]: id });
      const early = chance.chance(0.4) ? [set(bornAt + logBetween(chance, 1, 80), foreignID(`${name} any`))] : [];
      let at = bornAt + chance.int(1_000, 20_000);
      const moved = Array.from({ length: chance.int(1, 3) }, () => {
        at = after(chance, scene, at, 500, 60_000);
        return set(at, chance.pick(wishes));
      });
      const end = after(chance, scene, at, 500, 60_000);
      const last = chance.chance(0.6) ? remove(end, pointer) : set(end, idOf(pointer, 'made'));
      return [...foreign(pointer), ...early, ...moved, last];
    }),
};
