import { equal, isMap, type JsonMap, mapOf, omit } from '../json.ts';
import { type ApiObject, withMeta } from '../object.ts';
import type { Subresource } from '../objects/admission.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';
import { withoutAncient } from './ancient.ts';
import { type Comparison, compare } from './compare.ts';
import { childOf, emptySet, type FieldSet, isEmpty, node, union } from './field-set.ts';
import { identityOf, type Manager, managersOf, toManagedFields, without } from './managers.ts';

const serverFields = new Set(
  'name namespace creationTimestamp deletionTimestamp deletionGracePeriodSeconds selfLink uid generation managedFields resourceVersion'
    .split(' ')
    .map((name) => `f:${name}`),
);

/** The fields of a set that can have an owner on this endpoint. */
export function ownable(set: FieldSet, type: ResourceType, subresource: Subresource): FieldSet {
  const metadata = childOf(set, 'f:metadata');
  const kept = [...metadata.children].filter(([name]) => !serverFields.has(name));
  const skipped = new Set(['f:apiVersion', 'f:kind', 'f:metadata']);
  if (type.hasStatus && subresource !== 'status') skipped.add('f:status');
  const others = [...set.children].filter(([name]) => !skipped.has(name));
  if (subresource === 'status')
    return node(
      false,
      others.filter(([name]) => name === 'f:status'),
    );
  return node(false, [...others, ['f:metadata', node(false, kept)]]);
}

/** What a write changed, as far as anyone can own it. */
export function ownableChanges(
  old: ApiObject | undefined,
  object: ApiObject,
  type: ResourceType,
  subresource: Subresource,
): Comparison {
  const base: JsonMap = { metadata: {}, ...(old ?? type.behaviour.emptyObject) };
  const { changed, removed } = compare(base, object, type.schema);
  return { changed: ownable(changed, type, subresource), removed: ownable(removed, type, subresource) };
}

/** The object with `managedFields` after an ordinary write: who wrote a field owns it, alone. */
export function trackUpdate(
  old: ApiObject | undefined,
  object: ApiObject,
  type: ResourceType,
  subresource: Subresource,
  manager: string,
  time: string,
): ApiObject {
  const { changed, removed } = ownableChanges(old, object, type, subresource);
  const entry: Manager['entry'] = {
    manager,
    operation: 'Update',
    apiVersion: apiVersionOf(type),
    time,
    ...(subresource === undefined ? {} : { subresource }),
  };
  const id = identityOf(entry);
  const given = isReset(object) ? new Map<string, Manager>() : managersOf(hasManagers(object) ? object : old);
  // Once nobody owns anything, only an apply begins anew.
  if (old !== undefined && given.size === 0) return withMeta(object, { managedFields: undefined } as object);
  const left = without(given, union(changed, removed));
  const mine = { entry, set: union(left.get(id)?.set ?? emptySet, changed) };
  const isWritten = !isEmpty(changed);
  const managers = isWritten ? new Map([...left, [id, mine]]) : left;
  const tracked = withMeta(object, { managedFields: toManagedFields(withoutAncient(managers)) } as object);
  return old !== undefined && !isWritten && equal(timeless(tracked), timeless(old)) ? old : tracked;
}

function timeless(object: ApiObject): ApiObject {
  return withMeta(object, {
    managedFields: object.metadata.managedFields?.map((entry) => omit(entry, 'time')),
  } as object);
}

const hasManagers = ({ metadata }: ApiObject) => (metadata.managedFields ?? []).length > 0;

/** A list with one empty entry gives up all ownership. */
function isReset({ metadata }: ApiObject): boolean {
  const [only, ...more] = metadata.managedFields ?? [];
  return only !== undefined && more.length === 0 && isMap(only) && Object.keys(mapOf(only)).length === 0;
}
