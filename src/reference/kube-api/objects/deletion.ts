import { mapOf, stringsOf } from '../json.ts';
import { type ApiObject, finalizersOf, withMeta } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';

const isNamespace = ({ group, kind }: ResourceType) => group === '' && kind === 'Namespace';

/** Whether an object stays when its deletion is asked for: finalizers hold it, and its content holds a namespace. */
export function isHeld(type: ResourceType, object: ApiObject): boolean {
  if (finalizersOf(object).length > 0) return true;
  return isNamespace(type) && stringsOf(mapOf(object.spec).finalizers).length > 0;
}

/** The object once its deletion was asked for. */
export function marked(type: ResourceType, object: ApiObject, now: string): ApiObject {
  const { generation } = object.metadata;
  const held = withMeta(object, {
    deletionTimestamp: now,
    deletionGracePeriodSeconds: isNamespace(type) ? undefined : 0,
    generation: generation === undefined ? undefined : generation + 1,
  } as object);
  return isNamespace(type) ? { ...held, status: { ...mapOf(held.status), phase: 'Terminating' } } : held;
}
