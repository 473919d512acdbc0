import type { Act } from '../../core/story.ts';
import { agentAndTunnels } from '../agents.ts';
import { someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const agents = ['agent-a', 'agent-b'];

export const agentsRestarted: Habit = {
  about: 'local agents start anew: their tunnels and what they captured are gone',
  cast: (chance, scene) => {
    const own = agents.flatMap((at, index) => {
      const agent = { kind: 'Agent', namespace: chance.pick(['a', 'b']), name: `restarted-${index}` };
      return agentAndTunnels({ agent, at, tunnels: chance.int(1, 2) }, scene, chance);
    });
    return { ...scene, resources: [...scene.resources, ...own] };
  },
  plan: (chance, scene) =>
    Array.from({ length: chance.int(1, 4) }, (): Act => {
      const agent = chance.pick(agents);
      return { at: someTime(chance, scene, 3_000), do: 'restart-agent', agent };
    }),
};
