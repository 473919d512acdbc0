import { OneAtATime } from '../../../../common/one-at-a-time.ts';
import { agentKind } from '../registry/agent-kind.ts';
import { agentKeyOf } from '../registry/agents.ts';
import { ReplayFlow } from './flow.ts';
import { replayableAgent } from './permission.ts';
import { definition } from './schema.ts';

/** Once finished there is nothing to look for, and thousands of them may wait to be removed. */
const resyncIntervalMs = 24 * 3_600_000;

export const requestReplay = agentKind(
  definition,
  agentKeyOf,
  ({ agents, uuid }) => {
    const captures = new OneAtATime();
    return new ReplayFlow({ agentOf: (object) => replayableAgent(agents, object, captures), nonce: uuid });
  },
  { resyncIntervalMs },
);
