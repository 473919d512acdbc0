import { annotationsForPeople, unknownAnnotationIn } from '../resource/annotations.ts';
import type { Memory } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { emit, type Telling } from './events.ts';

/** Once a process: whoever mistyped an annotation believes that it is heeded, as that a resource is paused. */
export function tellOfUnknownAnnotation(options: Telling & { readonly memory: Memory }, object: ManagedObject): void {
  const { uid = '', annotations = {} } = object.metadata;
  const name = unknownAnnotationIn(annotations);
  if (name === undefined) return;
  const facts = options.memory.of(uid);
  if (facts.unknownAnnotation === name) return;
  facts.unknownAnnotation = name;
  const note = `the annotation ${name} has no effect; those to set are ${annotationsForPeople.join(', ')}`;
  emit(options, object, 'UnknownAnnotation', note);
}
