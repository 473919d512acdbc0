import { z } from 'zod';
import { cloudID } from '../../../../common/cloud-id.ts';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { managedSpec, managedStatus } from '../../../reconcile/resource/resource.ts';
import { atomic, enabled, enabledInAtomic, parentID, readiness, set } from '../fields.ts';

const mutualTLS = z.object({
  enabled: enabled('module'),
  certificateAuthorityIDs: z
    .array(cloudID)
    .max(256)
    .meta(set)
    .optional()
    .describe('Ids (ca_...) of the certificate authorities that client certificates are validated by.'),
});

const tlsTermination = z
  .object({
    enabled: enabledInAtomic('module'),
    minVersion: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        'Lowest TLS version, such as 1.2 or 1.3; without it the service picks one. Not for an edge that terminates upstream.',
      ),
  })
  .meta(atomic);

export const spec = z.object({
  ...managedSpec,
  edgeID: parentID('edgeID').describe('Id (edghts_...) of the HTTPS edge; cannot be changed.'),
  mutualTLS: mutualTLS.optional().describe('Clients must present a certificate.'),
  tlsTermination: tlsTermination.optional().describe('How TLS ends at the edge.'),
});

const applied = z.boolean().describe('Whether the module is as the spec asks.');

export const status = z.object({
  ...managedStatus,
  mutualTLS: z.object({ applied }).optional().describe('The mutual TLS module.'),
  tlsTermination: z
    .object({
      applied,
      terminateAt: z
        .string()
        .optional()
        .describe('Where TLS ends: edge, or upstream when it is passed through to the agent or application server.'),
    })
    .optional()
    .describe('The TLS termination module.'),
});

export type Spec = z.infer<typeof spec>;
export type Status = z.infer<typeof status>;

export const definition: KindDefinition = {
  type: edgeType('HttpsEdgeModules', 'httpsedgemodules'),
  singular: 'httpsedgemodules',
  shortNames: ['hem'],
  description: 'Modules of an HTTPS edge. Parts that are not named here are not touched.',
  spec,
  status,
  columns: [
    { name: 'EDGE', type: 'string', jsonPath: '.spec.edgeID' },
    readiness('MUTUALTLS', 'MutualTLSReady'),
    readiness('TERMINATION', 'TlsTerminationReady'),
    { name: 'TERMINATE-AT', type: 'string', jsonPath: '.status.tlsTermination.terminateAt', priority: 1 },
  ],
  selectable: ['.spec.accountRef.name', '.spec.edgeID'],
};
