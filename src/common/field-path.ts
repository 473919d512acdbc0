/** Whether the path of an issue leads nowhere in the value: what is wrong is then that a field is missing. */
export function isAbsent(path: readonly PropertyKey[], value: unknown): boolean {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return true;
    at = Reflect.get(at, key);
  }
  return false;
}

/** `tunnels.web.addr`, `headers[0]` */
export function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}
