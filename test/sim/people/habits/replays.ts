import type { Act } from '../../core/story.ts';
import { apply, foreignID, manifestOf, remove } from '../acts.ts';
import { agentAndTunnels } from '../agents.ts';
import { specFor } from '../content.ts';
import type { CastResource, Scene } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const agent = { kind: 'Agent', namespace: 'a', name: 'replays' };
const at = 'agent-b';
/** Requests that came through it can be replayed. */
const web = 'replays-web';
const captures = ['first', 'second'].map((name) => `captured ${name}`);

const replaysIn = ({ resources }: Scene) => resources.filter(({ kind }) => kind === 'RequestReplay');

export const replays: Habit = {
  about: 'captured requests are replayed, several times too, some as their tunnel or agent goes',
  cast: (chance, scene) => {
    const { namespace, name } = agent;
    const [own] = agentAndTunnels({ agent, at, tunnels: 0 }, scene, chance);
    const tunnel = { kind: 'AgentTunnel', namespace, name: web };
    const http = { agentRef: { name }, proto: 'http', addr: '8080', inspect: true };
    const made = Array.from({ length: chance.int(2, 6) }, (_, index): CastResource => {
      const named = { kind: 'RequestReplay', namespace, name: `replay-${index}` };
      const requestID = chance.chance(0.1) ? 'request-unknown' : foreignID(chance.pick(captures));
      const spec = { ...specFor({ ...named, agent: name }, chance), requestID };
      return { ...named, holds: 'main', spec, bornAt: someTime(chance, scene, 10_000) };
    });
    const served: CastResource = { ...tunnel, holds: 'main', spec: http, bornAt: chance.int(0, 2_000) };
    return { ...scene, resources: [...scene.resources, ...(own === undefined ? [] : [own]), served, ...made] };
  },
  plan: (chance, scene) => {
    const captured = captures.map((name): Act => ({ at: 9_000, do: 'capture', agent: at, tunnel: web, name }));
    const gone = chance.some(replaysIn(scene), 0.3).flatMap((replay) => {
      const removedAt = after(chance, scene, replay.bornAt, 1, 20_000);
      const again = chance.chance(0.4) ? [apply(after(chance, scene, removedAt, 1, 20_000), manifestOf(replay))] : [];
      return [remove(removedAt, replay), ...again];
    });
    return [...captured, ...gone];
  },
};
