import { isDeepStrictEqual } from 'node:util';

export interface JsonMap {
  readonly [key: string]: unknown;
}

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** A map, or an empty one in place of anything else. */
export function mapOf(value: unknown): JsonMap {
  return isMap(value) ? value : {};
}

/** A list, or an empty one in place of anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}

export function stringsOf(value: unknown): readonly string[] {
  return listOf(value).filter((item) => typeof item === 'string');
}

export function equal(a: unknown, b: unknown): boolean {
  return a === b || isDeepStrictEqual(a, b);
}

/** A copy without `keys`. */
export function omit<T extends JsonMap>(map: T, ...keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key))) as T;
}

/** A copy without the keys whose value is undefined. */
export function defined<T extends JsonMap>(map: T): T {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined)) as T;
}

/** A copy with `key` set, or left out when `value` is undefined. */
export function withKey<T extends JsonMap>(map: T, key: string, value: unknown): T {
  return value === undefined ? omit(map, key) : { ...map, [key]: value };
}

/** JSON with sorted keys: equal values have equal text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isMap(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}
