/**
 * Whether there are more than so many levels in a JSON value. Looks no further than that, so that it cannot overflow itself:
 * beyond some thousands of levels what works recursively overflows the stack.
 */
export function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1));
}

/** Whether a JSON value has more values in it than so many, at any depth. Looks no further than that. */
export function holdsMore(value: unknown, most: number): boolean {
  const rest = [value];
  let count = 0;
  while (rest.length > 0) {
    const inner = rest.pop();
    if (typeof inner !== 'object' || inner === null) continue;
    // Not by its values, which would all be there before the first is counted.
    for (const key in inner) {
      count += 1;
      if (count > most) return true;
      rest.push((inner as Record<string, unknown>)[key]);
    }
  }
  return false;
}
