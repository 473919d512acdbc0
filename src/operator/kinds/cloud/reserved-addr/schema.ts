import { z } from 'zod';
import { usableID } from '../../../../common/cloud-id.ts';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { managedSpec, managedStatus } from '../../../reconcile/resource/resource.ts';
import { textOfBytes } from '../fields.ts';

/** Cloud Management API, section 8: at most 4096 bytes, not characters. */
export const metadataLimitBytes = 4096;

export const regions = ['us', 'eu', 'au', 'ap', 'jp', 'in', 'sa'] as const;

export const spec = z.object({
  ...managedSpec,
  description: z.string().optional().describe('What the address is used for, for people.'),
  metadata: textOfBytes('metadata', metadataLimitBytes)
    .optional()
    .describe('Machine-readable data of your own; at most 4096 bytes of UTF-8.'),
  region: z
    .enum(regions)
    .default('us')
    .meta({
      'x-kubernetes-validations': [
        { rule: 'self == oldSelf', message: 'region cannot be changed; delete this resource and create another' },
      ],
    })
    .describe('Datacenter of the reservation; cannot be changed.'),
  endpointConfigurationID: z
    .string()
    .max(usableID.longest)
    .regex(/^[A-Za-z0-9_-]*$/)
    .optional()
    .describe('Id (ec_...) of the endpoint configuration to attach to the address; "" detaches what is there.'),
});

export const status = z.object({
  ...managedStatus,
  id: z.string().optional().describe('Id of the reserved address in the cloud.'),
  uri: z.string().optional().describe('URI of the reserved address in the cloud API.'),
  addr: z.string().optional().describe('The address, hostname:port.'),
  host: z.string().optional().describe('Host name of the address.'),
  port: z.int().min(0).max(65_535).optional().describe('Port of the address.'),
  region: z.string().optional().describe('Datacenter of the reservation.'),
  createdAt: z.string().optional().describe('When the cloud created it, RFC 3339.'),
  endpointConfiguration: z
    .object({
      id: z.string().describe('Id of the endpoint configuration.'),
      uri: z.string().describe('URI of the endpoint configuration.'),
    })
    .optional()
    .describe('The endpoint configuration attached to the address.'),
});

export type Spec = z.infer<typeof spec>;
export type Status = z.infer<typeof status>;

export const definition: KindDefinition = {
  type: edgeType('ReservedAddr', 'reservedaddrs'),
  singular: 'reservedaddr',
  shortNames: ['ra'],
  description: 'A TCP address reserved at the cloud edge.',
  spec,
  status,
  columns: [
    { name: 'ID', type: 'string', jsonPath: '.status.id' },
    { name: 'ADDR', type: 'string', jsonPath: '.status.addr' },
    { name: 'REGION', type: 'string', jsonPath: '.spec.region' },
  ],
  selectable: ['.spec.accountRef.name', '.status.id'],
};
