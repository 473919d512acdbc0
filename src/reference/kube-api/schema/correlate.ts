import { canonical, isList, isMap } from '../json.ts';
import type { Structural } from './structural.ts';

/** Finds the old counterpart of a list item: by its keys in a list of type map; other lists have none. */
export function correlate(old: unknown, schema: Structural): (item: unknown) => unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!isList(old) || schema['x-kubernetes-list-type'] !== 'map' || keys === undefined) return () => undefined;
  const keyOf = (item: unknown) => canonical(isMap(item) ? keys.map((key) => item[key]) : []);
  const byKey = new Map(old.map((item) => [keyOf(item), item]));
  return (item) => byKey.get(keyOf(item));
}
