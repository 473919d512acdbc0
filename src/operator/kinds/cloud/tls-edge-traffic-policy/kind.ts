import type { CloudClient } from '../../../cloud/client.ts';
import { partsKind } from '../../../reconcile/parts/kind.ts';
import { definition, type Spec, spec } from './schema.ts';
import { trafficPolicy } from './traffic-policy.ts';

/** Traffic policy of TLS edges (Cloud Management API, sections 2 and 4). */
export const tlsEdgeTrafficPolicy = partsKind<Spec, CloudClient>(definition, {
  spec,
  parent: ({ edgeID }) => `TLS edge ${edgeID}`,
  parts: [trafficPolicy],
  status: (parts) => {
    const { applied: _, ...fields } = parts.get(trafficPolicy.name) ?? { applied: false };
    return fields;
  },
});
