import type { CloudClient } from '../../../cloud/client.ts';
import { partsKind } from '../../../reconcile/parts/kind.ts';
import { mutualTLS } from './mutual-tls.ts';
import { definition, type Spec, spec } from './schema.ts';
import { tlsTermination } from './tls-termination.ts';

/** Modules of HTTPS edges (Cloud Management API, sections 2 and 4). */
export const httpsEdgeModules = partsKind<Spec, CloudClient>(definition, {
  spec,
  parent: ({ edgeID }) => `edge ${edgeID}`,
  parts: [mutualTLS, tlsTermination],
  status: (parts) => Object.fromEntries(parts),
});
