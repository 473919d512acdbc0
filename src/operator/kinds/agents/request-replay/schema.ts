import { z } from 'zod';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { managedStatus } from '../../../reconcile/resource/resource.ts';

const immutable = 'a replay cannot be changed; create another one';

export const spec = z
  .object({
    agentRef: z
      .object({ name: z.string().min(1).max(253).describe('Name of the Agent.') })
      .describe('Agent in the same namespace that captured the request.'),
    requestID: z.string().min(1).max(256).describe('Id of the captured request.'),
    tunnelName: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Tunnel to send it through; default the one it came through.'),
    ttlSecondsAfterFinished: z
      .int()
      .min(0)
      .max(2_147_483_647)
      .optional()
      .describe('Seconds after which this resource is deleted once it is finished; without it, it stays.'),
  })
  .meta({ 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: immutable }] });

export const status = z.object({
  ...managedStatus,
  completedAt: z
    .string()
    .optional()
    .meta({ format: 'date-time' })
    .describe('When it was finished: the request was replayed, or the replay failed for good.'),
});

export type Spec = z.infer<typeof spec>;

export const definition: KindDefinition = {
  type: edgeType('RequestReplay', 'requestreplays'),
  singular: 'requestreplay',
  shortNames: ['replay'],
  description: 'Sends a request that an Agent captured to the local server once more, and never a second time.',
  spec,
  status,
  columns: [
    { name: 'REQUEST', type: 'string', jsonPath: '.spec.requestID' },
    { name: 'AGENT', type: 'string', jsonPath: '.spec.agentRef.name' },
    { name: 'COMPLETED', type: 'date', jsonPath: '.status.completedAt' },
  ],
  selectable: ['.spec.agentRef.name', '.spec.requestID'],
};
