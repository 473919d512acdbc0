import jsonPatch, { type Operation } from 'fast-json-patch';
import { ApiError, badRequest, invalidPatch, unsupportedMediaType } from '../api-error.ts';
import { isList, isMap, type JsonMap, mapOf } from '../json.ts';
import { shallow } from '../nesting.ts';
import type { ResourceType } from '../types/resource-type.ts';
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
    const patch = body.trim() === 'null' ? {} : parseMap(body);
    return (current) => ofType(current, strategicMerge(current, patch, type.schema));
  }
  throw unsupportedMediaType(patchTypes(type));
}

/** Media types of patches of a type. */
export function patchTypes(type: ResourceType): readonly string[] {
  const strategic = type.custom ? [] : [strategicType];
  return [jsonType, mergeType, ...strategic, 'application/apply-patch+yaml'];
}

/** A strategic merge patch cannot change the type of an object; what it says of it is not looked at. */
function ofType({ apiVersion, kind }: JsonMap, merged: JsonMap): JsonMap {
  const wrong = [merged.apiVersion, merged.kind].find((name) => name !== undefined && typeof name !== 'string');
  if (wrong !== undefined) throw invalidPatch(`cannot convert ${String(wrong)} to string`);
  return { ...merged, apiVersion, kind };
}

function parseJson(body: string): unknown {
  try {
    return shallow(JSON.parse(body));
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

/** The members that each operation must have, texts but for `value`. */
const members = new Map([
  ['add', 'path value'],
  ['replace', 'path value'],
  ['remove', 'path'],
  ['test', 'path'],
  ['move', 'from path'],
  ['copy', 'from path'],
]);
const texts = 'from path'.split(' ');

function checkOperation(operation: unknown): void {
  const { op, ...given } = mapOf(operation);
  const wrong = (why: string) => badRequest(`invalid operation ${JSON.stringify(operation)}: ${why}`);
  const wanted = members.get(String(op));
  if (wanted === undefined) throw wrong('unsupported operation');
  const needed = wanted.split(' ');
  const missing = needed.find((member) => (texts.includes(member) ? given[member] == null : !(member in given)));
  if (missing !== undefined) throw wrong(`missing ${missing}`);
  const other = texts.find((member) => given[member] != null && typeof given[member] !== 'string');
  if (other !== undefined) throw badRequest(`error decoding patch: json: cannot unmarshal ${other} of type string`);
}

function applyOperations(operations: readonly Operation[]): (current: JsonMap) => JsonMap {
  return (current) => {
    try {
      return operations.reduce((document, operation) => applied(document, operation), copyOf(current));
    } catch {
      throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
    }
  };
}

/** @throws Error when it cannot be applied */
function applied(document: JsonMap, operation: Operation): JsonMap {
  if (isWhole(operation)) throw new Error('the whole object can be neither added nor copied');
  // What is not there is null.
  if (operation.op === 'test' && jsonPatch.getValueByPointer(document, operation.path) === undefined) {
    if (operation.value == null) return document;
  }
  return jsonPatch.applyOperation(document, copyOf(operation), true).newDocument as JsonMap;
}

function isWhole(operation: Operation): boolean {
  const { op } = operation;
  return (op === 'add' && operation.path === '') || ((op === 'move' || op === 'copy') && operation.from === '');
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

/** Not by structuredClone, whose lists equal no others where tests run in a realm of their own. */
function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
