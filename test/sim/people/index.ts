import { defaultResyncMs, durationOf } from '../core/duration.ts';
import { Chance } from '../core/random.ts';
import { type Act, endOf, type InstallationSpec, type Story } from '../core/story.ts';
import type { TroubleKind as Kind } from '../troubles/kind.ts';
import { births } from './births.ts';
import { chosen } from './chosen.ts';
import { doneAgain, ending } from './ending.ts';
import { habits } from './habits/index.ts';
import { unsettling } from './pairings.ts';
import { plainScene } from './plain.ts';
import type { Scene } from './scene.ts';
import { logBetween, someTime } from './times.ts';

/** As much of a trouble as stories need. */
export type TroubleKind = Pick<Kind, 'about' | 'plan'>;

export interface StoryOptions {
  /** Names of habits and troubles: just these are on. One alone brings those it goes with; see `pairings.ts`. */
  readonly only?: readonly string[];
  readonly troubles: Readonly<Record<string, TroubleKind>>;
}

export { habits };

/** Of the habits; troubles have names of their own. */
export const names: readonly string[] = Object.keys(habits);

const minute = 60_000;
/** What does not depend on checks for drift: backoffs, and what is done at intervals of its own. */
const settleMs = 10 * minute;
/** The longest pause between two tries, and some time for the try. */
const stillMs = 6 * minute;
/** After a check; seldom for many of them. */
const [calmMs, longCalmMs] = [minute, 180 * minute];

/** What a seed says: who is there, what people do and what goes wrong, until all is in order again. */
export function makeStory(seed: number, options: StoryOptions): Story {
  const { only, troubles } = options;
  const chance = new Chance('story', seed);
  const on = namesOf(seed, options);
  const plain = plainScene(chance.of('scene'));
  const doings = names.filter((name) => on.includes(name)).map((name) => doingOf(name, plain, chance.of(name)));
  const scene = together(
    plain,
    doings.map((doing) => doing.scene),
  );
  const done = [...births(scene, chance.of('births')), ...doings.flatMap(({ acts }) => acts)];
  const trouble = Object.entries(troubles).flatMap(([name, kind]) =>
    on.includes(name) ? windows(name, kind, scene, only !== undefined, chance.of(name)) : [],
  );
  const acts = inOrder([...done, ...trouble.map(({ act }) => act)]);
  const isSettled = !on.some((name) => unsettling.includes(name));
  const expect = Object.assign({}, ...doings.map((doing) => doing.expect));
  const checkMs = checkMsOf(scene);
  const aftermathMs = Math.max(0, ...trouble.map((each) => each.aftermathMs));
  return {
    seed,
    installations: scene.installations,
    cloud: scene.cloud,
    acts: [...acts, ...orderMade(acts, scene)],
    settleMs: settleMs + 2 * checkMs + aftermathMs,
    stillMs: stillMs + checkMs + aftermathMs,
    calmMs: chance.of('calm').chance(0.02) ? longCalmMs : calmMs + checkMs,
    ...(isSettled && Object.keys(expect).length > 0 && { expect }),
  };
}

/** Within which everything has been looked at. */
function checkMsOf({ installations }: Scene): number {
  return Math.max(...installations.map(({ settings }) => durationOf(settings?.resyncInterval) ?? defaultResyncMs));
}

/** The habits and troubles of a seed. */
export function namesOf(seed: number, { only, troubles }: StoryOptions): readonly string[] {
  const chance = new Chance('story', seed).of('on');
  return chosen([...names, ...Object.keys(troubles)], only, chance);
}

interface Doing {
  readonly scene: Scene;
  readonly acts: readonly Act[];
  readonly expect: Readonly<Record<string, string>>;
}

/** One habit knows nothing of the others. */
function doingOf(name: string, plain: Scene, chance: Chance): Doing {
  const habit = habits[name];
  if (habit === undefined) throw new Error(`nobody has the habit ${name}`);
  const scene = habit.cast?.(chance.of('cast'), plain) ?? plain;
  const acts = habit.plan(chance.of('plan'), scene).map((act): Act => ({ ...act, by: name }));
  return { scene, acts, expect: habit.expect?.(scene) ?? {} };
}

/** What each adds to the plain scene or changes of its installations and its cloud. */
function together(plain: Scene, scenes: readonly Scene[]): Scene {
  const added = <T>(of: (scene: Scene) => readonly T[]): readonly T[] => [
    ...of(plain),
    ...scenes.flatMap((scene) => of(scene).filter((each) => !of(plain).includes(each))),
  ];
  const installations = new Map(plain.installations.map((each) => [each.name, each]));
  for (const each of added((scene) => scene.installations)) installations.set(each.name, each);
  return {
    ...plain,
    installations: inHaste([...installations.values()]),
    cloud: Object.assign({}, plain.cloud, ...scenes.map(({ cloud }) => (cloud === plain.cloud ? {} : cloud))),
    accounts: added(({ accounts }) => accounts),
    resources: added(({ resources }) => resources),
  };
}

/** While replicas renew Leases, nobody is to wait for the checks of another installation. */
function inHaste(installations: readonly InstallationSpec[]): readonly InstallationSpec[] {
  const { resyncInterval } = installations.find(({ replicas = 1 }) => replicas > 1)?.settings ?? {};
  if (resyncInterval === undefined) return installations;
  return installations.map((each) => ({ ...each, settings: { resyncInterval, ...each.settings } }));
}

/** When a trouble is there: mostly from shortly before one of the moments. */
function windows(name: string, kind: TroubleKind, scene: Scene, isOnly: boolean, chance: Chance) {
  const count = isOnly ? chance.int(2, 4) : chance.int(1, 2);
  return Array.from({ length: count }, (_, index) => {
    const one = chance.of(index);
    const { forMs, with: options, aftermathMs = 0 } = kind.plan(one, scene);
    const before = Math.min(logBetween(one, 1, 5_000), forMs);
    const at = Math.max(0, someTime(one, scene) - before);
    const act: Act = { at, do: 'trouble', name, forMs, ...(options && { with: options }) };
    return { act, aftermathMs };
  });
}

const inOrder = (acts: readonly Act[]): readonly Act[] => acts.toSorted((a, b) => a.at - b.at);

/** After everything else, and after the last trouble. */
function orderMade(acts: readonly Act[], scene: Scene): readonly Act[] {
  const lost = acts.filter((act) => act.do === 'trouble' && act.name === 'kube-restored');
  const since = Math.min(...lost.map(({ at }) => at));
  const again = doneAgain(acts, since, endOf({ acts }) + 1_000);
  const all = [...acts, ...again];
  return [...again, ...ending(all, scene, endOf({ acts: all }) + 1_000)];
}
