import type { Chance } from '../../core/random.ts';
import { idOf, note, remove } from '../acts.ts';
import { ownText, parentIn } from '../content.ts';
import { type CastResource, isExternal, isModules, isOfCloud, type Scene } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const namespace = 'forger';

type Notes = Readonly<Record<string, string>>;

/** What a tenant writes who wants another's object, or its key. */
function forged(victim: CastResource, index: number, chance: Chance, scene: Scene): CastResource {
  const { kind } = victim;
  const name = `forged-${index}`;
  const theirs = victim.account === undefined ? 'default' : `${victim.namespace}/${victim.account}`;
  const account = chance.pick([theirs, theirs, `CloudAccount/${victim.account ?? 'own'}`]);
  const intent = JSON.stringify({ at: '2030-01-01T00:00:00.000Z', ...(chance.chance(0.5) && { content: 'forged' }) });
  const whole: Notes = isModules(victim)
    ? { [note.account]: account, [note.appliedParts]: Object.keys(victim.spec).join(',') }
    : { [note.account]: account, [note.externalID]: idOf(victim), [note.createdID]: idOf(victim) };
  const begun: Notes = { [note.account]: account, [note.createIntent]: intent };
  const annotations = isExternal(victim) && chance.chance(0.3) ? begun : whole;
  const role = { kind, namespace, name };
  const bornAt = Math.max(victim.bornAt + 2_000, someTime(chance, scene, victim.bornAt));
  return { ...role, holds: 'main', spec: specOf(victim, role, chance), annotations, bornAt };
}

/** Of modules nothing, so that what is on record is to be removed; or what the other one has. */
function specOf(victim: CastResource, role: Omit<CastResource, 'spec' | 'bornAt' | 'holds'>, chance: Chance) {
  if (victim.kind === 'BotUser') return { name: ownText(role) };
  if (victim.kind === 'ReservedAddr') return { description: ownText(role) };
  const { accountRef: _, ...theirs } = victim.spec;
  const bare = Object.keys(parentIn(victim.kind));
  if (victim.kind === 'TlsEdgeTrafficPolicy' || chance.chance(0.3)) return theirs;
  return Object.fromEntries(Object.entries(theirs).filter(([field]) => bare.includes(field)));
}

export const annotationsForged: Habit = {
  about: 'a tenant of another namespace forges account, ids, records and intents to get at what others made',
  cast: (chance, scene) => {
    const victims = chance.shuffled(scene.resources.filter(isOfCloud)).slice(0, chance.int(1, 3));
    const resources = victims.map((victim, index) => forged(victim, index, chance, scene));
    return { ...scene, resources: [...scene.resources, ...resources] };
  },
  plan: (chance, scene) =>
    scene.resources
      .filter((each) => each.namespace === namespace)
      .flatMap((each) => (chance.chance(0.8) ? [remove(after(chance, scene, each.bornAt, 500, 60_000), each)] : [])),
};
