import { equal, isMap } from '../json.ts';
import type { Structural } from '../schema/structural.ts';
import { type Element, elementsOf } from './elements.ts';
import { emptySet, type FieldSet, leaf, node, union } from './field-set.ts';

/** The paths that `value` sets: what an applier owns. */
export function fieldsOf(value: unknown, schema: Structural | undefined): FieldSet {
  const elements = elementsOf(value, schema);
  if (elements === undefined) return leaf;
  return node(
    false,
    elements.map((element) => [element.path, ownedBy(element)]),
  );
}

/** What is merged is owned by its fields and items, but for an empty map: nobody owns an empty list, nor what holds but that. */
function ownedBy({ value, schema, declared }: Element): FieldSet {
  const inner = fieldsOf(value, schema);
  const isBare = isMap(value) && Object.keys(value).length === 0;
  return isBare || !declared ? { ...inner, member: true } : inner;
}

export interface Comparison {
  /** Paths that were added or have another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** What differs between two values of one schema; undefined stands for a value that is not there. */
export function compare(old: unknown, value: unknown, schema: Structural | undefined): Comparison {
  const before = old === undefined ? [] : elementsOf(old, schema);
  const after = value === undefined ? [] : elementsOf(value, schema);
  if (before === undefined || after === undefined || (before.length === 0 && after.length === 0)) {
    return whole(old, value);
  }
  const pairs = new Map<string, { old?: Element; value?: Element }>();
  for (const element of before) pairs.set(element.path, { old: element });
  for (const element of after) pairs.set(element.path, { ...pairs.get(element.path), value: element });
  const inner = [...pairs].map(([path, pair]) => {
    const part = compare(pair.old?.value, pair.value?.value, (pair.value ?? pair.old)?.schema);
    return [path, part] as const;
  });
  return {
    changed: node(
      old === undefined,
      inner.map(([path, { changed }]) => [path, changed]),
    ),
    removed: node(
      value === undefined,
      inner.map(([path, { removed }]) => [path, removed]),
    ),
  };
}

function whole(old: unknown, value: unknown): Comparison {
  if (value === undefined) return { changed: emptySet, removed: old === undefined ? emptySet : leaf };
  if (old === undefined || !equal(old, value)) return { changed: leaf, removed: emptySet };
  return { changed: emptySet, removed: emptySet };
}

export function unionOf(sets: Iterable<FieldSet>): FieldSet {
  return [...sets].reduce(union, emptySet);
}
