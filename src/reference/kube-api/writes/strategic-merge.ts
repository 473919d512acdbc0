import { ApiError, badRequest } from '../api-error.ts';
import { canonical, isList, isMap, type JsonMap, listOf, mapOf, omit } from '../json.ts';
import { keySchema, type Structural } from '../schema/structural.ts';

const order = '$setElementOrder/';
const remove = '$deleteFromPrimitiveList/';

/**
 * A strategic merge patch as kubectl sends it for built-in types: lists of type map merge by their first key, sets by
 * value, other lists are replaced; the directives `$patch`, `$retainKeys`, `$setElementOrder` and
 * `$deleteFromPrimitiveList` are followed.
 */
export function strategicMerge(target: JsonMap, patch: JsonMap, schema: Structural | undefined): JsonMap {
  // Where nothing is there yet, nothing is merged, and directives are left out.
  if (Object.keys(target).length > 0) checkDirectives(patch);
  if (patch.$patch === 'replace') return omit(patch, '$patch');
  if (patch.$patch === 'delete') return {};
  const merged: Record<string, unknown> = retained(target, patch.$retainKeys);
  for (const [key, value] of Object.entries(patch)) {
    if (key === '$patch' || key === '$retainKeys' || key.startsWith(order)) continue;
    if (key.startsWith(remove)) removeItems(merged, key.slice(remove.length), listOf(value));
    else if (value === null) delete merged[key];
    else if (mapOf(value).$patch === 'delete') delete merged[key];
    else merged[key] = mergeValue(merged[key], value, schema && keySchema(schema, key), listOf(patch[order + key]));
  }
  return merged;
}

function checkDirectives(patch: JsonMap): void {
  const { $patch = 'replace', $retainKeys = [] } = patch;
  if (!['replace', 'delete'].includes(String($patch))) throw failed(`unknown patch type: ${String($patch)}`);
  if (!isList($retainKeys)) throw badRequest('invalid patch format of retainKeys');
  const orders = Object.entries(patch).filter(([key]) => key.startsWith(order));
  const wrong = orders.find(([, value]) => !isList(value));
  if (wrong !== undefined) throw failed(`expected a []interface {}, but received a ${typeof wrong[1]}`);
}

/** As a real server, which takes some of what it is sent for a failure of its own. */
const failed = (why: string) => new ApiError(500, undefined, why);

function retained(target: JsonMap, keys: unknown): Record<string, unknown> {
  if (!isList(keys)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

function removeItems(merged: Record<string, unknown>, key: string, items: readonly unknown[]): void {
  merged[key] = listOf(merged[key]).filter((item) => !items.includes(item));
}

function mergeValue(old: unknown, value: unknown, schema: Structural | undefined, wanted: readonly unknown[]): unknown {
  if (isMap(value)) return strategicMerge(mapOf(old), value, schema);
  if (!isList(value)) return value;
  const type = schema?.['x-kubernetes-list-type'];
  const key = schema?.['x-kubernetes-list-map-keys']?.[0];
  if (type === 'set') return inOrder([...new Set([...listOf(old), ...value])], wanted, canonical);
  if (type !== 'map' || key === undefined) return value;
  const merged = mergeByKey(listOf(old), value, key, schema?.items);
  return inOrder(merged, wanted, (item) => canonical(mapOf(item)[key]));
}

function mergeByKey(old: readonly unknown[], items: readonly unknown[], key: string, schema: Structural | undefined) {
  const isReplaced = items.some((item) => mapOf(item).$patch === 'replace');
  const merged = new Map((isReplaced ? [] : old).map((item) => [mapOf(item)[key], item]));
  for (const item of items.map(mapOf)) {
    if (item.$patch === 'replace') continue;
    if (item[key] === undefined && old.length > 0) throw failed(`the map does not contain declared merge key: ${key}`);
    if (item.$patch === 'delete') merged.delete(item[key]);
    else merged.set(item[key], strategicMerge(mapOf(merged.get(item[key])), item, schema));
  }
  return [...merged.values()];
}

/** Items in the order of `wanted`; those that it does not name come last. */
function inOrder(items: readonly unknown[], wanted: readonly unknown[], keyOf: (item: unknown) => string) {
  const places = new Map(wanted.map((item, index) => [keyOf(item), index]));
  const place = (item: unknown) => places.get(keyOf(item)) ?? places.size;
  return items.toSorted((a, b) => place(a) - place(b));
}
