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

/** Only what has parts need be written out to be compared. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (hasParts(one) && hasParts(other) && canonical(one) === canonical(other));
}

const hasParts = (value: unknown): boolean => typeof value === 'object' && value !== null;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
