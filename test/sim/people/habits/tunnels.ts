import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { originOf } from '../../core/surroundings.ts';
import { apply, edit, manifestOf, remove } from '../acts.ts';
import { agentAndTunnels } from '../agents.ts';
import { otherSpec, roleOf } from '../content.ts';
import type { CastResource, Scene } from '../scene.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

const agents = [
  { namespace: 'a', name: 'tunnels-one', at: 'agent-a' },
  { namespace: 'a', name: 'tunnels-two', at: 'agent-b' },
  { namespace: 'b', name: 'tunnels-one', at: 'agent-a' },
];

type Way = (tunnel: CastResource, at: number, chance: Chance, scene: Scene) => readonly Act[];

const edited: Way = (tunnel, at, chance, scene) => {
  const other = { ...tunnel, spec: otherSpec(roleOf(tunnel), tunnel.spec, chance) };
  const back = after(chance, scene, at, 1, 60_000);
  return [apply(at, manifestOf(other)), ...(chance.chance(0.5) ? [apply(back, manifestOf(tunnel))] : [])];
};

const renamed: Way = (tunnel, at, chance, scene) => {
  const { tunnelName = null } = tunnel.spec;
  return [
    edit(at, tunnel, { tunnelName: `renamed ${tunnel.name}` }),
    edit(after(chance, scene, at, 1, 60_000), tunnel, { tunnelName }),
  ];
};

/** To the other agent of the namespace and back. */
const moved: Way = (tunnel, at, chance, scene) => {
  const { agentRef = null } = tunnel.spec;
  return [
    edit(at, tunnel, { agentRef: { name: 'tunnels-two' } }),
    edit(after(chance, scene, at, 1, 60_000), tunnel, { agentRef }),
  ];
};

const deleted: Way = (tunnel, at, chance, scene) => [
  remove(at, tunnel),
  ...(chance.chance(0.5) ? [apply(after(chance, scene, at, 1, 30_000), manifestOf(tunnel))] : []),
];

/** For a time the Agent is said to be somewhere else. */
function agentMoved(agent: CastResource, chance: Chance, scene: Scene): readonly Act[] {
  const { url = null } = agent.spec;
  const at = someTime(chance, scene, 5_000);
  const elsewhere = chance.pick([originOf('agent-b'), 'http://nobody.sim:4040']);
  return [edit(at, agent, { url: elsewhere }), edit(after(chance, scene, at, 100, 60_000), agent, { url })];
}

/** Before the tunnels in it, which have to be stopped through it. */
function agentDeleted(agent: CastResource, own: readonly CastResource[], chance: Chance, scene: Scene): readonly Act[] {
  const at = someTime(chance, scene, 5_000);
  const later = after(chance, scene, at, 1, 10_000);
  const back = later + chance.int(10_000, 60_000);
  return [remove(at, agent), ...own.map((each) => remove(later, each)), apply(back, manifestOf(agent))];
}

export const tunnels: Habit = {
  about: 'tunnels are edited, renamed, moved and deleted; two namespaces have Agents of one agent',
  cast: (chance, scene) => {
    const chosen = [agents[0], ...chance.some(agents.slice(1), 0.6)].filter((each) => each !== undefined);
    const resources = chosen.flatMap(({ namespace, name, at }) => {
      const agent = { kind: 'Agent', namespace, name };
      return agentAndTunnels({ agent, at, tunnels: chance.int(1, 2), bornAt: chance.int(0, 3_000) }, scene, chance);
    });
    return { ...scene, resources: [...scene.resources, ...resources] };
  },
  plan: (chance, scene) => {
    const own = scene.resources.filter(({ name }) => name.startsWith('tunnels-'));
    const all = own.filter(({ kind }) => kind === 'AgentTunnel');
    const acts = Array.from({ length: chance.int(2, 5) }, () => {
      const tunnel = chance.pick(all);
      const ways = tunnel.namespace === 'a' && own.some(({ name }) => name === 'tunnels-two') ? [moved] : [];
      return chance.pick([edited, edited, renamed, deleted, ...ways])(
        tunnel,
        someTime(chance, scene, tunnel.bornAt),
        chance,
        scene,
      );
    });
    const agent = chance.pick(own.filter(({ kind }) => kind === 'Agent'));
    const inIt = all.filter((each) => each.namespace === agent.namespace && roleOf(each).agent === agent.name);
    const last = chance.chance(0.3) ? agentDeleted(agent, inIt, chance, scene) : agentMoved(agent, chance, scene);
    return [...acts.flat(), ...(chance.chance(0.5) ? last : [])];
  },
};
