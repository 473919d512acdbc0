/**
 * Whether there are more than so many levels in a JSON value. Looks no further than that, so that it cannot overflow itself:
 * beyond some thousands of levels what works recursively overflows the stack.
 */
export function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1));
}
