import type { CloudClient } from '../../../cloud/client.ts';
import { partsKind } from '../../../reconcile/parts/kind.ts';
import { compression } from './compression.ts';
import { ipRestriction } from './ip-restriction.ts';
import { saml } from './saml.ts';
import { definition, type Spec, spec } from './schema.ts';
import { webhookVerification } from './webhook-verification.ts';

/** Modules of HTTPS edge routes (Cloud Management API, sections 2 and 4). */
export const httpsRouteModules = partsKind<Spec, CloudClient>(definition, {
  spec,
  parent: ({ edgeID, routeID }) => `route ${routeID} of edge ${edgeID}`,
  parts: [saml, ipRestriction, webhookVerification, compression],
  status: (parts) => Object.fromEntries(parts),
});
