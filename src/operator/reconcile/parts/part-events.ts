import type { ReconcileContext } from '../context.ts';
import { ownershipOf } from '../ownership/ownership.ts';
import { conditionOf } from '../resource/resource.ts';
import type { InPlace } from './in-place.ts';
import { type AnyPart, isProven, type PartScope } from './part-scope.ts';

type Part = Pick<AnyPart<never, never>, 'name' | 'condition' | 'displayName'>;
type Context = Pick<ReconcileContext<unknown>, 'occasion' | 'resource'>;
type Telling = Context & Pick<ReconcileContext<unknown>, 'journal'>;
type Scope = Pick<PartScope<unknown>, 'parent' | 'applied'>;

/** It was as the spec asks before this resource had it. */
export function tellAdopted({ displayName }: Part, { journal }: Telling, { parent }: Scope): void {
  journal.event('Adopted', `adopted ${displayName} of ${parent}, which is as the spec asks`);
}

/** Asked before a PUT: tells of it when it is known what the service did not take. */
export function tellerOf(
  part: Part,
  context: Telling,
  scope: Scope,
  inPlace: InPlace,
  body: unknown,
): (isNew: boolean, fields: readonly string[], ignored: readonly string[]) => void {
  const { journal } = context;
  const what = `${part.displayName} of ${scope.parent}`;
  // Another part may be in trouble: what counts is that this one was as this generation asks, and what it refers to as it was.
  const wasAsAsked = isAsAsked(part, context);
  const isGone = wasThere(part, context, scope);
  const isChanged = inPlace.isOtherThan(body);
  return (isNew, fields, ignored) => {
    const taken = fields.filter((field) => !ignored.includes(field)).join(', ');
    if (isNew && isGone) journal.event('DriftCorrected', `made ${what} again: it was gone`);
    else if (isNew) journal.event('Created', `applied ${what}`);
    else if (fields.length === 0) journal.event('Updated', `replaced ${what}`);
    else if (taken === '') return;
    else if (wasAsAsked && !isChanged) journal.event('DriftCorrected', `put back ${taken} of ${what}`);
    else journal.event('Updated', `updated ${taken} of ${what}`);
  };
}

/** By its records; of a change without an answer nobody knows whether it put anything there, or took it away. */
export function wasThere(part: Part, context: Context, { applied }: Scope): boolean {
  const { object } = context.resource;
  if (!applied || !isProven(part, object)) return false;
  return isAsAsked(part, context) || ownershipOf(object).unanswered?.includes(part.name) !== true;
}

function isAsAsked({ condition }: Part, { occasion, resource: { object } }: Context): boolean {
  if (occasion.drift || condition === undefined) return occasion.drift;
  const { status, observedGeneration } = conditionOf(object, condition) ?? {};
  return status === 'True' && observedGeneration === object.metadata.generation;
}
