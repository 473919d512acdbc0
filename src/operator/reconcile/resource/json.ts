import { hash } from 'node:crypto';

type JsonObject = Readonly<Record<string, unknown>>;

/** Equal for values that are equal as JSON, whatever the order of their keys; undefined keys do not count. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isObject(inner) ? sorted(inner) : inner)) ?? 'undefined';
}

/** A short name for a JSON value: equal for equal values, and nothing of the value can be read from it. */
export function fingerprint(value: unknown): string {
  return hash('sha256', canonical(value), 'hex').slice(0, 16);
}

/** The JSON merge patch (RFC 7396) that turns `current` into `next`; undefined when they are equal. */
export function mergePatch(current: JsonObject, next: JsonObject): JsonObject | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(current), ...Object.keys(next)])) {
    const [before, after] = [current[key], next[key]];
    if (isSame(before, after)) continue;
    if (after === undefined) patch[key] = null;
    else patch[key] = isObject(before) && isObject(after) ? mergePatch(before, after) : after;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** As `canonical` has it, without writing anything out: every status is compared several times, and is mostly the same. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  }
  return isObject(one) && isObject(other) && haveSame(one, other);
}

function haveSame(one: JsonObject, other: JsonObject): boolean {
  for (const key in one) if (!isSame(one[key], Object.hasOwn(other, key) ? other[key] : undefined)) return false;
  for (const key in other) if (other[key] !== undefined && !Object.hasOwn(one, key)) return false;
  return true;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
