import { z } from 'zod';
import type { KubeObject } from '../../kube/types.ts';

export { keyOf } from '../../kube/types.ts';

/** Fields that every kind backed by the cloud has. Descriptions become the CRD's documentation. */
export const managedSpec = {
  accountRef: z
    .object({ name: z.string().min(1).max(253).describe('Name of the CloudAccount.') })
    .optional()
    .describe(
      "CloudAccount in the same namespace to use; without it the operator's default account. Cannot be changed once this resource has made something there.",
    ),
  deletionPolicy: z
    .enum(['Delete', 'Retain'])
    .default('Delete')
    .describe(
      'What happens to the external object when this resource is deleted: Delete removes it, Retain leaves it.',
    ),
  managementPolicy: z
    .enum(['Manage', 'Observe'])
    .default('Manage')
    .describe('Manage creates, updates and deletes the external object; Observe only reads it and reports drift.'),
  resyncIntervalSeconds: z
    .int()
    .min(30)
    .max(2_147_483_647)
    .optional()
    .describe('Seconds between two checks of the external object for drift; at least 30; default from the operator.'),
};

export const conditionSchema = z.object({
  type: z
    .string()
    .max(316)
    .regex(
      /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
    )
    .describe('Ready; Reconciling and Stalled are present only while True.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('One of True, False, Unknown.'),
  observedGeneration: z.int().min(0).optional().describe('The metadata.generation that this condition speaks of.'),
  lastTransitionTime: z.string().meta({ format: 'date-time' }).describe('When the status last changed.'),
  reason: z.string().min(1).max(1024).describe('A CamelCase word for programs.'),
  message: z.string().max(32_768).describe('What is the matter and what to do, for people.'),
});

export type Condition = z.infer<typeof conditionSchema>;

const partNames = (description: string) =>
  z.array(z.string().max(63)).max(16).optional().meta({ 'x-kubernetes-list-type': 'set' }).describe(description);

const partGenerationsSchema = z.object({
  asked: z.int().min(0).optional().describe('The last one that asked for the part.'),
  inPlace: z.int().min(0).optional().describe('The last one as which the part was found to be, or was put in place.'),
});

export type PartGenerations = z.infer<typeof partGenerationsSchema>;

export const ownershipSchema = z.object({
  installation: z.string().max(253).optional().describe('The installation of the operator that manages this resource.'),
  account: z
    .string()
    .max(266)
    .optional()
    .describe('The account that holds what this resource manages: default, or CloudAccount/ and a name.'),
  apiURL: z.string().max(2_048).optional().describe('The address of the API where that account is.'),
  how: z
    .enum(['Created', 'Imported', 'Applied'])
    .optional()
    .describe('How the external object came to be managed by this resource.'),
  id: z.string().max(256).optional().describe('The external object that this resource manages.'),
  parts: partNames('The parts that this resource applied.'),
  generations: z
    .record(z.string(), partGenerationsSchema)
    .optional()
    .meta({ maxProperties: 16 })
    .describe('Of each part that this resource applied, which metadata.generation it was for.'),
  contested: partNames('The parts that this resource asks for and another one has.'),
  unanswered: partNames(
    'The parts of which a change had no answer when it was sent: it may have been carried out late.',
  ),
  removedFor: z
    .string()
    .max(64)
    .optional()
    .describe(
      'The uid of the deleted resource for which all of that is removed, and whose finalizer could not be taken off.',
    ),
});

/** Whose an external object is: one record per resource (ownership.ts reads it). */
export type Ownership = z.infer<typeof ownershipSchema>;

export const managedStatus = {
  observedGeneration: z
    .int()
    .min(-1)
    .optional()
    .describe('The metadata.generation that this status speaks of; -1 until the operator has seen the object.'),
  lastHandledReconcileAt: z
    .string()
    .optional()
    .describe('The last value of the annotation edge-operator.dev/reconcile-at that was acted on.'),
  lastHandledExternalID: z
    .string()
    .optional()
    .describe(
      'The last value of the annotation edge-operator.dev/external-id that was looked for, where it is not the id.',
    ),
  ownership: ownershipSchema
    .optional()
    .describe(
      'What this resource manages outside, and through whom. Written by the operator before anything else is believed.',
    ),
  conditions: z
    .array(conditionSchema)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .describe('Ready says whether the external object is as the spec asks; its reason and message say why not.'),
};

export const managedSpecSchema = z.object(managedSpec);
export type ManagedSpec = z.infer<typeof managedSpecSchema>;

const managedStatusSchema = z.object(managedStatus);
export type ManagedStatus = z.infer<typeof managedStatusSchema>;

/** A custom resource of a kind that the cloud backs, as the API server returns it. */
export interface ManagedObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<ManagedStatus & Record<string, unknown>>;
}

/** The cached resources of a kind. Never older than this process's own last write. */
export interface ResourceCache {
  /** Without what is large in it. */
  get(key: string): ManagedObject | undefined;
  /** The same resource with all that it holds; undefined when it has gone meanwhile. */
  whole(object: ManagedObject): Promise<ManagedObject | undefined>;
}

export function conditionOf(object: ManagedObject, type: string): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

/** A status tells of what was read: what a restored server has may never have been that. */
export function isOlder({ metadata }: ManagedObject, than: ManagedObject): boolean {
  return (metadata.generation ?? 0) < (than.metadata.generation ?? 0);
}

export function isDeleting(object: ManagedObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}
