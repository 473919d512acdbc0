import { annotation, annotationOf } from '../resource/annotations.ts';
import { conditionOf, isDeleting, type ManagedObject } from '../resource/resource.ts';
import { type Report, report } from '../status/outcome.ts';

/* An unanswered create may have made any of several objects, of which a person says which it is. */

/** Of what a create may have made: the condition must have room for what to do about it. */
export const mostNamed = 5;

export function ambiguous(object: ManagedObject, ids: readonly string[]): Report {
  const named = ids.slice(0, mostNamed).join(', ');
  const more = ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : '';
  const [kept, other] = isDeleting(object)
    ? ['delete with this resource', 'leave them all']
    : ['keep', 'create another'];
  const message =
    `an unanswered create may have made any of ${named}${more}: set the annotation ${annotation.externalID} to the ` +
    `one to ${kept}, or remove the annotation ${annotation.createIntent} to ${other}`;
  return report('AmbiguousCreate', message);
}

export function isAmbiguous(object: ManagedObject): boolean {
  return conditionOf(object, 'Ready')?.reason === 'AmbiguousCreate';
}

/**
 * A person who was asked which object to keep named it: that settles what an unrecorded create made. What else is named,
 * perhaps before anybody was asked, does not.
 */
export function chosenOf(object: ManagedObject, ids: readonly string[]): string | undefined {
  const named = annotationOf(object, annotation.externalID);
  return named !== undefined && ids.includes(named) && isAmbiguous(object) ? named : undefined;
}
