import { z } from 'zod';
import { urlField } from '../../../reconcile/addresses/url-field.ts';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { managedStatus } from '../../../reconcile/resource/resource.ts';
import { atomic, defaulted, keyRef, set } from '../fields.ts';

const someOf = (...values: readonly string[]) => z.array(z.enum(values)).max(values.length).meta(set);

const endpointMirror = z
  .object({
    enabled: defaulted(z.boolean(), true).describe(
      'Whether active endpoints are mirrored; false removes what is there. Default true.',
    ),
    intervalSeconds: defaulted(z.int().min(1).max(86_400), 30).describe(
      'Endpoints that appear, change or go are shown within this many seconds. Default 30.',
    ),
    protocols: someOf('http', 'https', 'tcp', 'tls')
      .optional()
      .describe('Mirror only endpoints of these protocols; all when absent.'),
    types: someOf('ephemeral', 'edge').optional().describe('Mirror only endpoints of these types; all when absent.'),
  })
  .meta(atomic);

export const spec = z.object({
  apiURL: urlField
    .optional()
    .describe(
      "Address of the Cloud Management API; default the operator's. Its host must be the operator's or one of --allowed-api-hosts, by the scheme that is allowed there.",
    ),
  apiKeySecretRef: keyRef.describe('The Secret with the API key; a changed key is used at once.'),
  requestsPerMinute: z
    .int()
    .min(1)
    .max(100_000)
    .default(120)
    .describe(
      'Requests that everything using this account may send in any 60 seconds together, whatever others send with the same key.',
    ),
  endpointMirror: endpointMirror
    .optional()
    .describe('Mirrors the active endpoints of the account into ConfigMaps of this namespace.'),
});

export const status = z.object({
  ...managedStatus,
  apiURL: z.string().optional().describe('The address that is used.'),
  reachable: z.boolean().optional().describe('Whether the API answered the last check.'),
  authenticated: z.boolean().optional().describe('Whether the API accepted the key at the last check.'),
  endpointsMirrored: z.int().min(0).optional().describe('Endpoints that are mirrored.'),
  shard: z
    .string()
    .max(16)
    .optional()
    .describe('Which replica works for this account, where it is not as its name says: the shard, and of how many.'),
});

export type Spec = z.infer<typeof spec>;

export const definition: KindDefinition = {
  type: edgeType('CloudAccount', 'cloudaccounts'),
  singular: 'cloudaccount',
  shortNames: ['acct'],
  description: 'An account of the cloud: address, API key and request budget for the resources that name it.',
  spec,
  status,
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.status.apiURL' },
    { name: 'REACHABLE', type: 'boolean', jsonPath: '.status.reachable' },
    { name: 'AUTHENTICATED', type: 'boolean', jsonPath: '.status.authenticated' },
    { name: 'ENDPOINTS', type: 'integer', jsonPath: '.status.endpointsMirrored' },
  ],
  selectable: ['.spec.apiKeySecretRef.name'],
};
