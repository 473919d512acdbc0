import type { Structural } from '../schema/structural.ts';
import { assemble, elementsOf } from './elements.ts';
import { childOf, type FieldSet, isEmpty } from './field-set.ts';

/** `live` with everything that `configuration` sets: maps and keyed lists merge, all else is replaced. */
export function merge(live: unknown, configuration: unknown, schema: Structural | undefined): unknown {
  const old = elementsOf(live, schema);
  const set = elementsOf(configuration, schema);
  if (old === undefined || set === undefined || Array.isArray(live) !== Array.isArray(configuration))
    return configuration;
  const wanted = new Map(set.map((element) => [element.path, element]));
  const kept = old.map((element) => {
    const change = wanted.get(element.path);
    return change === undefined ? element : { ...element, value: merge(element.value, change.value, element.schema) };
  });
  const known = new Set(old.map(({ path }) => path));
  return assemble([...kept, ...set.filter(({ path }) => !known.has(path))], live);
}

/**
 * `value` without what is in `gone` unless `kept`, which other managers own, has it or something below it. As in the real
 * server null is left of a map or list of which nothing is.
 */
export function removeFields(value: unknown, gone: FieldSet, kept: FieldSet, schema: Structural | undefined): unknown {
  const elements = elementsOf(value, schema);
  if (elements === undefined) return value;
  const left = elements.flatMap((element) => {
    const mine = childOf(gone, element.path);
    const others = childOf(kept, element.path);
    if (isEmpty(mine)) return [element];
    if (isEmpty(others) && (mine.member || element.declared)) return [];
    return [{ ...element, value: removeFields(element.value, mine, others, element.schema) }];
  });
  return left.length === 0 && elements.length > 0 ? null : assemble(left, value);
}
