import type { ReconcileContext } from '../context.ts';
import { ownershipOf } from '../ownership.ts';
import { conditionOf } from '../resource.ts';
import type { InPlace } from './in-place.ts';
import { type AnyPart, isProven, type PartScope } from './part-scope.ts';

/** What is told of one part. */
export class PartEvents<Spec, Client> {
  readonly #part: AnyPart<Spec, Client>;
  readonly #context: ReconcileContext<Client>;
  readonly #scope: PartScope<Spec>;
  readonly #inPlace: InPlace;

  constructor(
    part: AnyPart<Spec, Client>,
    context: ReconcileContext<Client>,
    scope: PartScope<Spec>,
    inPlace: InPlace,
  ) {
    this.#part = part;
    this.#context = context;
    this.#scope = scope;
    this.#inPlace = inPlace;
  }

  /** It was as the spec asks before this resource had it. */
  adopted(): void {
    this.#context.journal.event('Adopted', `adopted ${this.#what}, which is as the spec asks`);
  }

  /** Asked before a PUT: tells of it when it is known what the service did not take. */
  ofReplacing(body: unknown, isNew: boolean, fields: readonly string[]): (ignored: readonly string[]) => void {
    const { journal } = this.#context;
    const isDrift = isNew ? this.#wasThere() : this.#isDrift(body);
    return (ignored) => {
      const taken = fields.filter((field) => !ignored.includes(field));
      if (isNew && isDrift) journal.event('DriftCorrected', `made ${this.#what} again, which was gone`);
      else if (isNew) journal.event('Created', `applied ${this.#what}`);
      else if (fields.length === 0) journal.event('Updated', `replaced ${this.#what}`);
      else if (taken.length === 0) return;
      else if (isDrift) journal.event('DriftCorrected', `put back ${taken.join(', ')} of ${this.#what}`);
      else journal.event('Updated', `updated ${taken.join(', ')} of ${this.#what}`);
    };
  }

  get #what(): string {
    return `${this.#part.displayName} of ${this.#scope.parent}`;
  }

  /** Another part may be in trouble: what counts is that this one was as this generation asks. */
  #isDrift(body: unknown): boolean {
    // What it refers to has changed.
    return !this.#inPlace.isOtherThan(body) && this.#wasAsAsked();
  }

  /** By its records; of a PUT without an answer nobody knows whether it put anything there. */
  #wasThere(): boolean {
    const { object } = this.#context.resource;
    if (!this.#scope.applied || !isProven(this.#part, object)) return false;
    return this.#wasAsAsked() || ownershipOf(object).unanswered?.includes(this.#part.name) !== true;
  }

  #wasAsAsked(): boolean {
    const { occasion, resource } = this.#context;
    if (occasion.drift || this.#part.condition === undefined) return occasion.drift;
    const { object } = resource;
    const condition = conditionOf(object, this.#part.condition);
    return condition?.status === 'True' && condition.observedGeneration === object.metadata.generation;
  }
}
