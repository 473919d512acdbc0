import { annotation, annotationOf } from '../annotations.ts';
import type { ManagedObject } from '../fields.ts';

/** The parts that this resource applied and that are therefore its to remove; durable, unlike status. */
export function appliedParts(object: ManagedObject): ReadonlySet<string> {
  const names = annotationOf(object, annotation.appliedParts)?.split(',') ?? [];
  return new Set(names.filter((name) => name !== ''));
}
