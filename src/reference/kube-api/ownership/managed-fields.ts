import type { ApiObject } from '../object.ts';
import type { ResourceType } from '../resource-type.ts';
export function trackUpdate(
  _old: ApiObject | undefined,
  object: ApiObject,
  _type: ResourceType,
  _sub: string | undefined,
  _manager: string,
  _time: string,
): ApiObject {
  return object;
}
