import type { Structural } from '../schema/structural.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type MessageField, messageNamed, objectMessages } from '../writes/message-fields.ts';
import { type BuiltinSpec, builtinType } from './builtin-type.ts';
import { anyObject, microTime, objectSchema, time } from './schemas.ts';

/**
 * Types that are stored and no more: nobody acts on them, as without controllers and authorisation. Their fields are those
 * of Kubernetes' own types, so that unknown ones are found and patches merge lists as in a cluster.
 */
type StoredSpec = Omit<BuiltinSpec, 'version' | 'schema'>;

function stored(spec: StoredSpec): ResourceType {
  const version = 'v1';
  const { metadata: _, ...fields } = propertiesOf(objectMessages[`${spec.group}/${version}/${spec.kind}`] ?? '');
  const schema = objectSchema(`${spec.kind} is kept as it was written.`, fields);
  const behaviour = spec.hasStatus ? { emptyObject: { spec: {}, status: {} } } : {};
  return builtinType({ ...spec, version, schema, behaviour });
}

const propertiesOf = (message: string) =>
  Object.fromEntries([...messageNamed(message).values()].flatMap((field) => propertyOf(field)));

function propertyOf({ name, container, keys, type }: MessageField): readonly (readonly [string, Structural])[] {
  if (name === '') return Object.entries(propertiesOf(type));
  const schema = schemaOf(type);
  if (container === 'map') return [[name, { type: 'object', nullable: true, additionalProperties: schema }]];
  if (container === 'list') return [[name, { type: 'array', nullable: true, ...listOf(schema, keys) }]];
  return [[name, schema]];
}

function listOf(items: Structural, keys: readonly string[]): Structural {
  const [key] = keys;
  if (key === undefined) return { items };
  const protocol = { ...items.properties?.protocol, default: 'TCP' };
  return {
    items: keys.includes('protocol') ? { ...items, properties: { ...items.properties, protocol } } : items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    'x-kubernetes-patch-strategy': 'merge',
    'x-kubernetes-patch-merge-key': key,
  };
}

const leaves: Readonly<Record<string, Structural>> = {
  string: { type: 'string', nullable: true },
  bytes: { type: 'string', nullable: true },
  bool: { type: 'boolean', nullable: true },
  int32: { type: 'integer', format: 'int32', nullable: true },
  int64: { type: 'integer', format: 'int64', nullable: true },
  IntOrString: { 'x-kubernetes-int-or-string': true, nullable: true },
  Quantity: { description: 'A number, with a unit or not.' },
  Time: time('A time.'),
  MicroTime: microTime('A time.'),
  FieldsV1: anyObject('Fields as a tree of keys.'),
};

/** Owned as one value: what selects, and what names another object. */
const isAtomic = (type: string) =>
  /\.(LabelSelector|NodeSelector(Term)?|(\w+Key|\w+Field)Selector|\w*Reference|RoleRef|Subject)$/.test(type);

const schemaOf = (type: string): Structural =>
  leaves[type] ?? {
    type: 'object',
    nullable: true,
    properties: propertiesOf(type),
    ...(isAtomic(type) ? { 'x-kubernetes-map-type': 'atomic' } : {}),
  };

const rbac = (kind: string, namespaced: boolean) =>
  stored({ group: 'rbac.authorization.k8s.io', plural: `${kind.toLowerCase()}s`, kind, namespaced });

export const storedTypes: readonly ResourceType[] = [
  stored({
    group: 'apps',
    plural: 'deployments',
    kind: 'Deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    hasStatus: true,
    tracksGeneration: true,
  }),
  stored({
    group: 'networking.k8s.io',
    plural: 'networkpolicies',
    kind: 'NetworkPolicy',
    shortNames: ['netpol'],
    tracksGeneration: true,
  }),
  stored({
    group: 'policy',
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    shortNames: ['pdb'],
    hasStatus: true,
    tracksGeneration: true,
  }),
  rbac('Role', true),
  rbac('RoleBinding', true),
  rbac('ClusterRole', false),
  rbac('ClusterRoleBinding', false),
];
