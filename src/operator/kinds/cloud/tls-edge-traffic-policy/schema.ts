import { z } from 'zod';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { bounded } from '../../../reconcile/resource/bounds.ts';
import { managedSpec, managedStatus } from '../../../reconcile/resource/resource.ts';
import { atomic, enabled, keyRef, parentID } from '../fields.ts';

const text = z.string({ error: 'must be a string' });
const object = { error: 'must be an object' };
const list = { error: 'must be a list' };

const action = z.looseObject(
  {
    type: text.describe('What is done, such as log or deny.'),
    config: z.looseObject({}, object).optional().describe('What this type of action needs to know.'),
  },
  object,
);

const rule = z.looseObject(
  {
    name: text.describe('Name of the rule, for people.'),
    expressions: z.array(text, list).describe('When the rule applies.'),
    actions: z.array(action, list).describe('What is done, in this order.'),
  },
  object,
);

/** What is known of the grammar (Cloud Management API, section 2); other keys and types of action pass through. */
export const policy = z
  .looseObject({ inbound: z.array(rule, list).describe('Rules for what comes in, in this order.') }, object)
  .superRefine(bounded)
  .meta(atomic);

export type Policy = z.infer<typeof policy>;

const policyFrom = z.object({
  configMapKeyRef: keyRef.describe('A key of a ConfigMap that holds the policy as JSON or YAML.'),
});

export const spec = z
  .object({
    ...managedSpec,
    edgeID: parentID('edgeID').describe('Id (edgtls_...) of the TLS edge; cannot be changed.'),
    enabled: enabled('policy'),
    policy: policy.optional().describe('The traffic policy. Exactly one of this and policyFrom.'),
    policyFrom: policyFrom
      .optional()
      .describe('Where the traffic policy is read from, and followed when it changes. Exactly one of this and policy.'),
  })
  .refine(
    (it) => (it.policy === undefined) !== (it.policyFrom === undefined),
    'needs exactly one of policy and policyFrom',
  )
  .meta({
    'x-kubernetes-validations': [
      { rule: 'has(self.policy) != has(self.policyFrom)', message: 'needs exactly one of policy and policyFrom' },
    ],
  });

export const status = z.object({
  ...managedStatus,
  appliedPolicyHash: z
    .string()
    .optional()
    .describe(
      'Short hash of the policy in the cloud as parsed JSON: equal for equal policies, however they are written.',
    ),
  ruleCount: z.int().min(0).optional().describe('Number of inbound rules of the policy in the cloud.'),
});

export type Spec = z.infer<typeof spec>;
export type Status = z.infer<typeof status>;

export const definition: KindDefinition = {
  type: edgeType('TlsEdgeTrafficPolicy', 'tlsedgetrafficpolicies'),
  singular: 'tlsedgetrafficpolicy',
  shortNames: ['tetp'],
  description: 'The traffic policy of a TLS edge.',
  spec,
  status,
  columns: [
    { name: 'EDGE', type: 'string', jsonPath: '.spec.edgeID' },
    { name: 'ENABLED', type: 'boolean', jsonPath: '.spec.enabled' },
    { name: 'RULES', type: 'integer', jsonPath: '.status.ruleCount' },
    { name: 'HASH', type: 'string', jsonPath: '.status.appliedPolicyHash', priority: 1 },
  ],
  selectable: ['.spec.accountRef.name', '.spec.edgeID'],
};
