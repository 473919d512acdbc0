import { canonical, isMap } from '../json.ts';
import type { ApiObject, ManagedFieldsEntry } from '../object.ts';
import { difference, type FieldSet, fromFieldsV1, isEmpty, toFieldsV1 } from './field-set.ts';

/** Who owns which fields: one entry for each manager, operation, version and subresource. */
export type Managers = ReadonlyMap<string, Manager>;

export interface Manager {
  readonly entry: Pick<ManagedFieldsEntry, 'manager' | 'operation' | 'apiVersion' | 'time' | 'subresource'>;
  readonly set: FieldSet;
}

/** Appliers are the same whatever version they apply. */
export function identityOf({ manager, operation, apiVersion, subresource }: Manager['entry']): string {
  return canonical([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource ?? '']);
}

export function managersOf(object: ApiObject | undefined): Managers {
  const entries = (object?.metadata.managedFields ?? []).filter((entry) => isMap(entry) && entry.manager !== undefined);
  return new Map(
    entries.map(({ fieldsV1, fieldsType: _, ...entry }) => [identityOf(entry), { entry, set: fromFieldsV1(fieldsV1) }]),
  );
}

/** Managers after `lost` went from each of them; their times are those of what they wrote, so that they stay. */
export function without(managers: Managers, lost: FieldSet): Managers {
  return new Map([...managers].map(([id, { entry, set }]) => [id, { entry, set: difference(set, lost) }]));
}

/** `metadata.managedFields`. */
export function toManagedFields(managers: Managers): readonly ManagedFieldsEntry[] | undefined {
  const entries = [...managers.values()]
    .filter(({ set }) => !isEmpty(set))
    .map(({ entry, set }) => ({ ...entry, fieldsType: 'FieldsV1', fieldsV1: toFieldsV1(set) }) as ManagedFieldsEntry);
  return entries.length === 0 ? undefined : entries.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

const orderOf = ({ operation, time = '', manager, apiVersion, subresource = '' }: ManagedFieldsEntry) =>
  [operation, time, manager, apiVersion, subresource].join('\0');
