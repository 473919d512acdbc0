import type { Structural } from '../schema/structural.ts';

/** Short ways to write the schemas of built-in types. */

export const string = (description: string, more: Structural = {}): Structural => ({
  type: 'string',
  description,
  ...more,
});

export const integer = (description: string, format: 'int32' | 'int64' = 'int32'): Structural => ({
  type: 'integer',
  format,
  description,
});

export const boolean = (description: string): Structural => ({ type: 'boolean', description });

export const time = (description: string): Structural => ({
  type: 'string',
  format: 'date-time',
  nullable: true,
  description,
});

/** `metav1.MicroTime`; its format is checked when the object is decoded. */
export const microTime = (description: string): Structural => ({ type: 'string', nullable: true, description });

export const object = (
  description: string,
  properties: Readonly<Record<string, Structural>>,
  required: readonly string[] = [],
): Structural => ({ type: 'object', description, properties, ...(required.length === 0 ? {} : { required }) });

export const stringMap = (description: string): Structural => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string' },
});

export const list = (description: string, items: Structural, more: Structural = {}): Structural => ({
  type: 'array',
  description,
  items,
  ...more,
});

export const listOfMaps = (description: string, keys: readonly string[], items: Structural): Structural =>
  list(description, items, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    'x-kubernetes-patch-strategy': 'merge',
    'x-kubernetes-patch-merge-key': keys[0] ?? '',
  });

export const anyObject = (description: string): Structural => ({
  type: 'object',
  description,
  'x-kubernetes-preserve-unknown-fields': true,
});

export const ownerReference = object(
  'OwnerReference names an object that owns this one.',
  {
    apiVersion: string('API version of the referent.'),
    kind: string('Kind of the referent.'),
    name: string('Name of the referent.'),
    uid: string('UID of the referent.'),
    controller: boolean('If true, this reference points to the managing controller.'),
    blockOwnerDeletion: boolean('If true, the owner cannot be deleted in the foreground before this reference goes.'),
  },
  ['apiVersion', 'kind', 'name', 'uid'],
);

/** An opaque field set. */
export const fieldsV1 = anyObject('Fields as a tree of keys.');

export const managedFieldsEntry = object('ManagedFieldsEntry names the fields that one manager set.', {
  apiVersion: string('Version of the resource in which the fields are named.'),
  fieldsType: string('Format of the fields; FieldsV1 is the only one.'),
  fieldsV1,
  manager: string('Name of the manager.'),
  operation: string('Apply or Update.'),
  subresource: string('Subresource that was written; empty for the main one.'),
  time: time('When the manager wrote last.'),
});

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

export const objectMeta: Structural = object(`Standard object's metadata. More info: ${conventions}#metadata`, {
  annotations: stringMap('Unstructured data set by tools and people; not for selecting objects.'),
  creationTimestamp: time('When the object was created; set by the server.'),
  deletionGracePeriodSeconds: integer('Seconds until the object is removed; set by the server.', 'int64'),
  deletionTimestamp: time('When deletion was asked for; set by the server.'),
  finalizers: list('What must be done before the object is removed.', string('Name of a finalizer.'), {
    'x-kubernetes-list-type': 'set',
    'x-kubernetes-patch-strategy': 'merge',
  }),
  generateName: string('Prefix from which the server makes a unique name when name is empty.'),
  generation: integer('Number of the desired state; set by the server.', 'int64'),
  labels: stringMap('Keys and values that organise and select objects.'),
  managedFields: list('Which manager set which field; set by the server.', managedFieldsEntry),
  name: string(
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  ),
  namespace: string('Namespace of the object. Cannot be updated.'),
  ownerReferences: listOfMaps('Objects that own this one.', ['uid'], ownerReference),
  resourceVersion: string('Opaque version of the object; set by the server.'),
  selfLink: string('No longer set by the server.'),
  uid: string('Unique identity of the object in time and space; set by the server.'),
});

/** `apiVersion` and `kind`, as every object has them. */
export const typeMeta = {
  apiVersion: string(
    `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
  ),
  kind: string(
    `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
  ),
};

/** The schema of a whole object: `fields` beside apiVersion, kind and metadata. */
export function objectSchema(description: string, fields: Readonly<Record<string, Structural>>): Structural {
  return object(description, {
    ...typeMeta,
    metadata: objectMeta,
    ...fields,
  });
}
