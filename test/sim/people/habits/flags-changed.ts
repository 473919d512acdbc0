import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { start, stop } from '../acts.ts';
import { firstInstallation, type Scene } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

type Settings = Readonly<Record<string, string>>;

/** What a flag is set to for a time. */
const flags: readonly ((chance: Chance, scene: Scene) => Settings)[] = [
  (chance) => ({ apiUrl: chance.pick(['http://nobody.sim', 'http://other-cloud.sim']) }),
  (chance) => ({ defaultAccountNamespaces: chance.pick(['a', 'b', 'nobody']) }),
  (chance) => ({ watchNamespaces: chance.pick(['a', 'b', 'a,b', 'c', 'a,b,c']) }),
  (chance) => ({ allowedApiHosts: chance.pick(['nobody.sim', 'http://other-cloud.sim,http://cloud.sim']) }),
  (chance) => ({ allowedAgentHosts: chance.pick(['agent-a.sim:4040', 'nobody.sim', 'agent-b.sim:4040']) }),
  (chance) => ({ shards: chance.pick(['1', '2', '4']) }),
  (chance, { installations }) =>
    (installations[0]?.replicas ?? 1) > 1 ? { shards: chance.pick(['1', '2']) } : { leaderElect: 'true' },
  (chance) => ({ createSettle: chance.pick(['90s', '5m']) }),
  (chance) => ({ requestsPerMinute: chance.pick(['5', '30', '60']) }),
  (chance) => ({ resyncInterval: chance.pick(['30s', '2m', '10m']) }),
  () => ({ takeOver: 'true' }),
  (chance) => ({ mirrorInterval: '30s', mirrorNamespace: chance.pick(['a', 'b']) }),
];

/** One flag at a time: with two of them a person may ask for what the oracles take for theft, as a move does. */
export const flagsChanged: Habit = {
  about: 'the operator is restarted with another flag, and back',
  plan: (chance, scene) =>
    Array.from({ length: chance.int(1, 3) }, () => {
      const settings = chance.pick(flags)(chance, scene);
      const at = someTime(chance, scene);
      const back = after(chance, scene, at, 500, 90_000);
      const down = chance.chance(0.2) ? [stop(Math.max(0, at - chance.int(1, 5_000)), firstInstallation)] : [];
      const other: Act = { at, do: 'start', installation: firstInstallation, settings };
      return [...down, other, start(back, firstInstallation)];
    }).flat(),
};
