import { z } from 'zod';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { managedSpec, managedStatus } from '../../../reconcile/resource/resource.ts';

export const spec = z.object({
  ...managedSpec,
  name: z.string().min(1).describe('Name of the bot user in the cloud, for people.'),
  active: z.boolean().default(true).describe('Whether the bot user may act.'),
});

export const status = z.object({
  ...managedStatus,
  id: z.string().optional().describe('Id of the bot user in the cloud.'),
  uri: z.string().optional().describe('URI of the bot user in the cloud API.'),
  createdAt: z.string().optional().describe('When the cloud created it, RFC 3339.'),
});

export type Spec = z.infer<typeof spec>;
export type Status = z.infer<typeof status>;

export const definition: KindDefinition = {
  type: edgeType('BotUser', 'botusers'),
  singular: 'botuser',
  shortNames: ['bot'],
  description: 'A bot user: an identity of the cloud account that is no person.',
  spec,
  status,
  columns: [
    { name: 'ID', type: 'string', jsonPath: '.status.id' },
    { name: 'USERNAME', type: 'string', jsonPath: '.spec.name' },
    { name: 'ACTIVE', type: 'boolean', jsonPath: '.spec.active' },
  ],
  selectable: ['.spec.accountRef.name', '.status.id'],
};
