import { agentKind } from '../registry/agent-kind.ts';
import { agentKeyOf } from '../registry/agents.ts';
import { TunnelFlow } from './flow.ts';
import { definition } from './schema.ts';

export const agentTunnel = agentKind(
  definition,
  agentKeyOf,
  ({ agents, createSettleMs }) => new TunnelFlow(agents, createSettleMs),
);
