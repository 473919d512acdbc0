import type { ReconcileContext } from '../context.ts';
import { conditionOf } from '../resource.ts';
import type { InPlace } from './in-place.ts';
import type { AnyPart, PartScope } from './part-scope.ts';

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
    const isDrift = this.#isDrift(body);
    return (ignored) => {
      const taken = fields.filter((field) => !ignored.includes(field));
      if (isNew) journal.event('Created', `applied ${this.#what}`);
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
    const { occasion, resource } = this.#context;
    // What it refers to has changed.
    if (this.#inPlace.isOtherThan(body)) return false;
    if (occasion.drift || this.#part.condition === undefined) return occasion.drift;
    const { object } = resource;
    const condition = conditionOf(object, this.#part.condition);
    return condition?.status === 'True' && condition.observedGeneration === object.metadata.generation;
  }
}
