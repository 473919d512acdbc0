import { definition as agent } from './agent/schema.ts';
import { definition as agentTunnel } from './agent-tunnel/schema.ts';
import { definition as botUser } from './bot-user/schema.ts';
import { definition as cloudAccount } from './cloud-account/schema.ts';
import type { KindDefinition } from './definition.ts';
import { definition as httpsEdgeModules } from './https-edge-modules/schema.ts';
import { definition as httpsRouteModules } from './https-route-modules/schema.ts';
import { definition as requestReplay } from './request-replay/schema.ts';
import { definition as reservedAddr } from './reserved-addr/schema.ts';
import { definition as tlsEdgeTrafficPolicy } from './tls-edge-traffic-policy/schema.ts';

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
