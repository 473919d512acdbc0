import type { Subresource } from '../admission.ts';
import type { ApiObject } from '../object.ts';
import type { ResourceType } from '../resource-type.ts';
export interface ApplyRequest {
  readonly configuration: ApiObject;
  readonly type: ResourceType;
  readonly subresource: Subresource;
  readonly manager: string;
  readonly force: boolean;
  readonly now: number;
}

import { parse } from 'yaml';
import { checkGvk } from '../decode.ts';
import { mergePatch } from '../patch.ts';
export function decodeApply(body: string, type: ResourceType): ApiObject {
  return checkGvk(parse(body), type);
}
export function createdByApply(request: ApplyRequest): ApiObject {
  return request.configuration;
}
export function applyConfiguration(current: ApiObject, request: ApplyRequest): ApiObject {
  return mergePatch(current, request.configuration) as ApiObject;
}
