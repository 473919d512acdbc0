import type { OneAtATime } from '../../../../common/one-at-a-time.ts';
import type { Replay, Waiting } from '../../../agent-client/client.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { DependencyError, RefusedError } from '../../../reconcile/status/outcome.ts';
import type { Agents } from '../registry/agents.ts';
import type { ReplayAgent } from './flow.ts';

/** Of one captured request: more is not read to learn through which tunnel it came. */
const mostMiB = 16;

/**
 * The agent that a resource names. Where Agents of other namespaces lead to it too, only what came through a tunnel that
 * the resource's own namespace made is replayed, and only to such a tunnel: captures are read, and tunnels reached, by
 * whose they are. Each is kept whole while it waits to be read: of a namespace one at a time. Throws DependencyError when it
 * cannot be used, and rejects with one where it cannot be used any more.
 */
export function replayableAgent(
  agents: Pick<Agents, 'of' | 'isShared' | 'hasMade'>,
  object: ManagedObject,
  captures: OneAtATime,
): ReplayAgent {
  const connection = agents.of(object);
  const { url, client } = connection;
  const { namespace = '' } = object.metadata;
  return {
    status: (waiting) => client.status(waiting),
    replay: async (replay) => {
      // To read what was captured may have taken minutes, in which a person paused the Agent, or gave it another address.
      if (agents.of(object) !== connection) throw new DependencyError(`the Agent is at ${url} no longer`);
      await client.replay(replay);
    },
    check: async ({ id, tunnelName }: Replay, { signal }: Waiting = {}) => {
      if (!agents.isShared(url, namespace)) return;
      const read = async () => (await client.getRequest(id, { mostMiB, signal }))?.tunnel_name;
      // The agent itself says that there is none.
      const names = [await captures.run(namespace, read, signal), tunnelName].filter((name) => name !== undefined);
      if (names.every((name) => agents.hasMade(namespace, url, name))) return;
      throw new RefusedError(
        'the agent is shared with other namespaces: only requests that came through a tunnel of an AgentTunnel of this namespace are replayed, and only to such a tunnel',
      );
    },
  };
}
