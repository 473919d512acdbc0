import { z } from 'zod';
import { holdsMore } from '../../../../common/nesting.ts';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { bounded } from '../../../reconcile/resource/bounds.ts';
import { managedStatus } from '../../../reconcile/resource/resource.ts';

/** Without control characters. */
const noControls = /^\P{Cc}+$/u;

/** An agent shows them in each list. */
const mostOptionValues = 4_096;

const notADotSegment = 'must be neither . nor ..';

export const spec = z.object({
  agentRef: z
    .object({ name: z.string().min(1).max(253).describe('Name of the Agent.') })
    .describe('Agent in the same namespace that the tunnel runs in.'),
  tunnelName: z
    .string()
    .min(1)
    .max(256)
    .regex(noControls)
    .refine((name) => name !== '.' && name !== '..', notADotSegment)
    .meta({ 'x-kubernetes-validations': [{ rule: "self != '.' && self != '..'", message: notADotSegment }] })
    .optional()
    .describe('Name of the tunnel in the agent; default the name of this resource.'),
  proto: z.string().min(1).max(63).describe('Protocol, such as http, tcp or tls.'),
  addr: z
    .string()
    .min(1)
    .max(2_048)
    .regex(noControls)
    .describe('Where the agent forwards to, such as "8080" or app:8080.'),
  inspect: z.boolean().optional().describe("Whether requests are captured; default the agent's."),
  options: z
    .looseObject({})
    .superRefine(bounded)
    .refine((options) => !holdsMore(options, mostOptionValues), `holds more than ${mostOptionValues} values`)
    // Else server-side apply makes null of options that are applied empty.
    .meta({ 'x-kubernetes-map-type': 'atomic' })
    .optional()
    .describe(
      'More parameters of the tunnel, as the agent knows them. None of them stands in for name, proto, addr or inspect.',
    ),
});

export const status = z.object({
  ...managedStatus,
  uri: z.string().optional().describe("The tunnel's path in the agent's API."),
  agentURL: z.string().optional().describe('Address of the agent that the tunnel runs in.'),
  tunnelName: z.string().optional().describe('Name of the tunnel in that agent.'),
  startedAt: z
    .string()
    .optional()
    .meta({ format: 'date-time' })
    .describe('When the start was asked for that made the tunnel; absent where it ran already and was adopted.'),
  shownOptions: z
    .string()
    .optional()
    .describe('Fingerprint of what else the agent shows of the tunnel, as it was started: anything else is drift.'),
  publicURL: z.string().optional().describe('Where the tunnel is reached from outside.'),
});

export type Spec = z.infer<typeof spec>;
export type Status = z.infer<typeof status>;

export const definition: KindDefinition = {
  type: edgeType('AgentTunnel', 'agenttunnels'),
  singular: 'agenttunnel',
  shortNames: ['tun'],
  description: 'A tunnel that runs in an Agent for as long as this resource exists.',
  spec,
  status,
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.status.publicURL' },
    { name: 'AGENT', type: 'string', jsonPath: '.spec.agentRef.name' },
    { name: 'PROTO', type: 'string', jsonPath: '.spec.proto' },
    { name: 'ADDR', type: 'string', jsonPath: '.spec.addr' },
  ],
  selectable: ['.spec.agentRef.name'],
};
