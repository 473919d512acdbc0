import type { Chance } from '../core/random.ts';
import { originOf } from '../core/surroundings.ts';
import { type Role, specFor } from './content.ts';
import type { CastResource, Scene } from './scene.ts';
import { someTime } from './times.ts';

export interface AgentCast {
  readonly agent: Role;
  /** The name of one of the agents of the world. */
  readonly at: string;
  readonly tunnels: number;
  /** Default 0. */
  readonly bornAt?: number;
}

/** An Agent and tunnels in it, named after it. */
export function agentAndTunnels(cast: AgentCast, scene: Scene, chance: Chance): readonly CastResource[] {
  const { agent, at, tunnels, bornAt = 0 } = cast;
  const { namespace, name } = agent;
  const make = (role: Role, born: number): CastResource => {
    const { kind } = role;
    return { kind, namespace, name: role.name, holds: 'main', spec: specFor(role, chance), bornAt: born };
  };
  return [
    make({ ...agent, url: originOf(at) }, bornAt),
    ...Array.from({ length: tunnels }, (_, index) =>
      make(
        { kind: 'AgentTunnel', namespace, name: `${name}-tunnel-${index}`, agent: name },
        someTime(chance, scene, bornAt),
      ),
    ),
  ];
}
