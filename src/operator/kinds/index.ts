import type { FamilyKinds } from '../reconcile/family.ts';
import type { KindDefinition } from '../reconcile/kind.ts';
import { agent } from './agents/agent/kind.ts';
import { agentTunnel } from './agents/agent-tunnel/kind.ts';
import type { AgentKindOptions } from './agents/registry/agent-kind.ts';
import { requestReplay } from './agents/request-replay/kind.ts';
import type { CloudKindOptions } from './cloud/accounts/cloud-kind.ts';
import { botUser } from './cloud/bot-user/kind.ts';
import { cloudAccount } from './cloud/cloud-account/kind.ts';
import { httpsEdgeModules } from './cloud/https-edge-modules/kind.ts';
import { httpsRouteModules } from './cloud/https-route-modules/kind.ts';
import { reservedAddr } from './cloud/reserved-addr/kind.ts';
import { tlsEdgeTrafficPolicy } from './cloud/tls-edge-traffic-policy/kind.ts';

/** Kinds that the cloud backs. */
export const cloudKinds: FamilyKinds<CloudKindOptions> = {
  provider: cloudAccount,
  dependents: [reservedAddr, botUser, httpsRouteModules, httpsEdgeModules, tlsEdgeTrafficPolicy],
};

/** Kinds that local agents back. */
export const agentKinds: FamilyKinds<AgentKindOptions> = {
  provider: agent,
  dependents: [agentTunnel, requestReplay],
};

/** Every kind, as Kubernetes is told of it. */
export const definitions: readonly KindDefinition[] = [cloudKinds, agentKinds].flatMap(({ provider, dependents }) =>
  [provider, ...dependents].map(({ definition }) => definition),
);
