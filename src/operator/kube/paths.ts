import type { ObjectRef, ResourceType } from './types.ts';

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Every object of the type, in one namespace or (without one) in all. */
export function collectionPath(type: ResourceType, namespace: string | undefined, query: Query = {}): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${type.plural}${queryString(query)}`;
}

export function objectPath(
  type: ResourceType,
  ref: ObjectRef,
  subresource: string | undefined,
  query: Query = {},
): string {
  if (type.namespaced && ref.namespace === undefined)
    throw new TypeError(`${type.kind} ${ref.name}: no namespace given`);
  const tail = subresource === undefined ? '' : `/${subresource}`;
  return `${collectionPath(type, ref.namespace)}/${encodeURIComponent(ref.name)}${tail}${queryString(query)}`;
}

function queryString(query: Query): string {
  const present = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value !== false);
  return present.length === 0
    ? ''
    : `?${new URLSearchParams(present.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
