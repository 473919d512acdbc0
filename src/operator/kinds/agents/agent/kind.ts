import type { Dependents } from '../../../reconcile/connections/dependents.ts';
import { keyOf } from '../../../reconcile/resource/resource.ts';
import { type AgentKindOptions, agentKind } from '../registry/agent-kind.ts';
import { AgentFlow } from './flow.ts';
import { definition } from './schema.ts';

export const agent = agentKind<AgentKindOptions & { readonly dependents: Dependents }>(
  definition,
  keyOf,
  ({ agents, dependents }) => new AgentFlow({ agents, dependents }),
);
