import jsonPatch, { type Operation } from 'fast-json-patch';
import { ApiError, badRequest, unsupportedMediaType } from './api-error.ts';
import { isList, isMap, type JsonMap, mapOf } from './json.ts';
import type { ResourceType } from './resource-type.ts';
import { strategicMerge } from './strategic-merge.ts';

export const applyPatchTypes = ['application/apply-patch+yaml', 'application/apply-patch+cbor'];

const mergeType = 'application/merge-patch+json';
const jsonType = 'application/json-patch+json';
const strategicType = 'application/strategic-merge-patch+json';

/** The function that a patch body stands for. Throws 400 for a malformed body and 415 for a type that is not supported. */
export function decodePatch(body: string, mediaType: string, type: ResourceType): (current: JsonMap) => JsonMap {
  if (mediaType === jsonType) return applyOperations(parseOperations(body));
  if (mediaType === mergeType) {
    const patch = parseMap(body);
    return (current) => mergePatch(current, patch) as JsonMap;
  }
  if (mediaType === strategicType && !type.custom) {
    const patch = parseMap(body);
    return (current) => strategicMerge(current, patch, type.schema);
  }
  throw unsupportedMediaType(patchTypes(type));
}

/** Media types of patches of a type. */
export function patchTypes(type: ResourceType): readonly string[] {
  const strategic = type.custom ? [] : [strategicType];
  return [jsonType, mergeType, ...strategic, 'application/apply-patch+yaml'];
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}

function parseMap(body: string): JsonMap {
  const patch = parseJson(body);
  if (isMap(patch)) return patch;
  const found = isList(patch) ? 'array' : typeof patch;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
  );
}

function parseOperations(body: string): readonly Operation[] {
  const patch = parseJson(body);
  if (patch === null) return [];
  if (isList(patch)) {
    for (const operation of patch) checkOperation(operation);
    return patch as readonly Operation[];
  }
  throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp');
}

/** The members that each operation must have. */
const members: Readonly<Record<string, string>> = {
  add: 'path value',
  replace: 'path value',
  remove: 'path',
  test: 'path',
  move: 'from path',
  copy: 'from path',
};

function checkOperation(operation: unknown): void {
  const { op, ...given } = mapOf(operation);
  const wrong = (why: string) => badRequest(`invalid operation ${JSON.stringify(operation)}: ${why}`);
  const wanted = typeof op === 'string' ? members[op] : undefined;
  if (wanted === undefined) throw wrong('unsupported operation');
  const missing = wanted.split(' ').find((member) => given[member] === undefined);
  if (missing !== undefined) throw wrong(`missing ${missing}`);
}

function applyOperations(operations: readonly Operation[]): (current: JsonMap) => JsonMap {
  return (current) => {
    try {
      const result = jsonPatch.applyPatch(structuredClone(current), structuredClone([...operations]), true);
      return result.newDocument;
    } catch {
      throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
    }
  };
}

/** RFC 7386. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const merged: Record<string, unknown> = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}
