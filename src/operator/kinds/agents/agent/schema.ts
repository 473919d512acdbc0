import { z } from 'zod';
import { urlField } from '../../../reconcile/addresses/url-field.ts';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { managedStatus } from '../../../reconcile/resource/resource.ts';

const serviceRef = z.object({
  name: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe('Name of the Service, in the namespace of this resource.'),
  port: z.int().min(1).max(65_535).default(4_040).describe("The Service's port that leads to the agent's API."),
});

const oneAddress = 'needs exactly one of serviceRef and url';

export const spec = z
  .object({
    serviceRef: serviceRef
      .optional()
      .describe(
        "Service in front of the agent's API, spoken to over http; it must select pods of this namespace. Exactly one of this and url.",
      ),
    url: urlField
      .optional()
      .describe(
        "Address of the agent's API; its host must be one of --allowed-agent-hosts, or as one of its patterns. Exactly one of this and serviceRef.",
      ),
  })
  .refine((it) => (it.serviceRef === undefined) !== (it.url === undefined), oneAddress)
  .meta({ 'x-kubernetes-validations': [{ rule: 'has(self.serviceRef) != has(self.url)', message: oneAddress }] });

const leg = z.object({
  region: z.string().describe('Where the leg ends.'),
  latency: z.string().describe('As the agent measured it, when the other fields of this status last changed.'),
});

export const status = z.object({
  ...managedStatus,
  url: z.string().optional().describe('The address that is used.'),
  agentVersion: z.string().optional().describe('Version of the agent.'),
  status: z.string().optional().describe('What the agent says of itself, such as online.'),
  legs: z.array(leg).optional().describe("The agent's connections to the edge."),
  tunnelCount: z.int().min(0).optional().describe('Tunnels that run in the agent, whoever started them.'),
});

export type Spec = z.infer<typeof spec>;
export type Status = z.infer<typeof status>;

export const definition: KindDefinition = {
  type: edgeType('Agent', 'agents'),
  singular: 'agent',
  shortNames: ['agt'],
  description: 'A running local agent, in which AgentTunnels are started.',
  spec,
  status,
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'STATUS', type: 'string', jsonPath: '.status.status' },
    { name: 'VERSION', type: 'string', jsonPath: '.status.agentVersion' },
    { name: 'TUNNELS', type: 'integer', jsonPath: '.status.tunnelCount' },
  ],
  selectable: ['.spec.serviceRef.name'],
};
