import { YAMLParseError } from 'yaml';

/** What works recursively overflows the stack at some thousands, and YAML is not read beyond some hundreds. */
const mostLevels = 500;

/** As Go says it. */
export const tooDeep = 'exceeded max depth';

/** The value, if it nests no deeper than an object may. Throws an Error otherwise. */
export function shallow<Value>(value: Value): Value {
  if (nestsDeeper(value)) throw new Error(tooDeep);
  return value;
}

/** Looks no further than `levels`, so that it cannot overflow itself. */
export function nestsDeeper(value: unknown, levels = mostLevels): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1));
}

/** Why a body cannot be read. */
export function problemOf(error: unknown): string {
  const isTooDeep = error instanceof YAMLParseError && error.code === 'RESOURCE_EXHAUSTION';
  return isTooDeep ? tooDeep : (error as Error).message;
}
