import type { CloudClient } from '../../cloud/client.ts';
import type { ResourceType } from '../../kube/types.ts';
import type { ExternalKind } from '../../reconcile/external/contract.ts';
import {
  type ControllerOptions,
  identifiedController,
  type KindController,
  partsController,
} from '../../reconcile/kind-controller.ts';
import type { PartsKind } from '../../reconcile/parts/part.ts';
import type { ManagedSpec } from '../../reconcile/resource.ts';
import { botUser } from './bot-user/kind.ts';
import { httpsEdgeModules } from './https-edge-modules/kind.ts';
import { httpsRouteModules } from './https-route-modules/kind.ts';
import { reservedAddr } from './reserved-addr/kind.ts';
import { tlsEdgeTrafficPolicy } from './tls-edge-traffic-policy/kind.ts';

type Options = ControllerOptions<CloudClient> & { readonly createSettleMs: number };

/** A kind that uses an account of the cloud. */
interface CloudKind {
  readonly type: ResourceType;
  readonly controller: (options: Options) => KindController;
}

function identified<Spec extends ManagedSpec, Observed>(kind: ExternalKind<Spec, Observed, CloudClient>): CloudKind {
  return { type: kind.type, controller: (options) => identifiedController(kind, options) };
}

function parts<Spec extends ManagedSpec>(kind: PartsKind<Spec, CloudClient>): CloudKind {
  return { type: kind.type, controller: (options) => partsController(kind, options) };
}

/** All of them: a kind that is not here is never reconciled. */
export const cloudKinds: readonly CloudKind[] = [
  identified(reservedAddr),
  identified(botUser),
  parts(httpsRouteModules),
  parts(httpsEdgeModules),
  parts(tlsEdgeTrafficPolicy),
];
