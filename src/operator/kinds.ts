import type { CloudClient } from '../cloud/client.ts';
import { botUser } from '../kinds/bot-user/kind.ts';
import {
  type ControllerOptions,
  identifiedController,
  type KindController,
  partsController,
} from '../kinds/controller.ts';
import { httpsEdgeModules } from '../kinds/https-edge-modules/kind.ts';
import { httpsRouteModules } from '../kinds/https-route-modules/kind.ts';
import { reservedAddr } from '../kinds/reserved-addr/kind.ts';
import { tlsEdgeTrafficPolicy } from '../kinds/tls-edge-traffic-policy/kind.ts';
import type { ResourceType } from '../kube/types.ts';

/** The types of the kinds that use an account of the cloud. */
export const cloudTypes: readonly ResourceType[] = [
  reservedAddr,
  botUser,
  httpsRouteModules,
  httpsEdgeModules,
  tlsEdgeTrafficPolicy,
].map(({ type }) => type);

/** A controller for each of them. */
export function cloudKinds(
  options: ControllerOptions<CloudClient> & { readonly createSettleMs: number },
): readonly KindController[] {
  return [
    identifiedController(reservedAddr, options),
    identifiedController(botUser, options),
    partsController(httpsRouteModules, options),
    partsController(httpsEdgeModules, options),
    partsController(tlsEdgeTrafficPolicy, options),
  ];
}
