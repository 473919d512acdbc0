/** A document may nest so deep: beyond some thousands what works recursively overflows the stack. */
export const mostLevels = 100;

/** Looks no further than `levels`, so that it cannot overflow itself. */
export function nestsDeeper(value: unknown, levels = mostLevels): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1));
}
