import type { KindDefinition } from '../reconcile/kind.ts';
import { definition as agent } from './agents/agent/schema.ts';
import { definition as agentTunnel } from './agents/agent-tunnel/schema.ts';
import { definition as requestReplay } from './agents/request-replay/schema.ts';
import { definition as botUser } from './cloud/bot-user/schema.ts';
import { definition as cloudAccount } from './cloud/cloud-account/schema.ts';
import { definition as httpsEdgeModules } from './cloud/https-edge-modules/schema.ts';
import { definition as httpsRouteModules } from './cloud/https-route-modules/schema.ts';
import { definition as reservedAddr } from './cloud/reserved-addr/schema.ts';
import { definition as tlsEdgeTrafficPolicy } from './cloud/tls-edge-traffic-policy/schema.ts';

/** Every kind, as Kubernetes is told of it. Import-light: it reaches no API client. */
export const definitions: readonly KindDefinition[] = [
  cloudAccount,
  reservedAddr,
  botUser,
  httpsRouteModules,
  httpsEdgeModules,
  tlsEdgeTrafficPolicy,
  agent,
  agentTunnel,
  requestReplay,
];
