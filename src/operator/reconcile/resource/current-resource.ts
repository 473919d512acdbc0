import { isConflict, isForbidden } from '../../kube/errors.ts';
import type { Facts } from './memory.ts';
import { noteWritten } from './records.ts';
import type { ManagedObject } from './resource.ts';
import type { Annotations, Fate, ObjectWriter } from './writer.ts';

type Known = Pick<Facts, 'wasThere' | 'records' | 'recordsOpenUntil' | 'isLetGo'>;

/**
 * The resource that a reconcile is about, as it was last written: every write of a flow goes through this, so that none
 * is based on, and nothing is concluded from, what it was before.
 */
export class CurrentResource {
  readonly #writer: ObjectWriter;
  readonly #facts: Known;
  #object: ManagedObject;
  #isConfirmed = false;

  /** @param facts where this process remembers that it was there, what it has on record, and that it let go of it */
  constructor(object: ManagedObject, writer: ObjectWriter, facts: Known = {}) {
    this.#object = object;
    this.#writer = writer;
    this.#facts = facts;
  }

  get object(): ManagedObject {
    return this.#object;
  }

  get uid(): string {
    return this.#object.metadata.uid ?? '';
  }

  /** Takes what somebody else wrote, as it was read since. */
  take(latest: ManagedObject): void {
    this.#object = latest;
  }

  /** By the finalizer: from now on it does not go before it is released. */
  hold(): Promise<void> {
    return this.record({});
  }

  /**
   * Before the first call of a reconcile that puts or removes something for it: a list that is behind has what has gone, be it that
   * somebody took its finalizer off, or that this process did and was not told so, and what that had may be another's by now. See
   * {@link ObjectWriter.confirm}; what the reconcile has written to is there. Who may not read it any more, as in a namespace
   * that goes with its RoleBinding, goes by having met it.
   */
  async confirm(): Promise<void> {
    if (this.#isConfirmed) return;
    try {
      this.#met(await this.#writer.confirm(this.#object));
    } catch (error) {
      if (!isForbidden(error) || this.#facts.wasThere !== true) throw error;
    }
  }

  /** Of another one of its kind. See {@link ObjectWriter.fateOf}. */
  fateOf(other: ManagedObject): Promise<Fate> {
    return this.#writer.fateOf(other);
  }

  /** See {@link ObjectWriter.record}. */
  async record(records: Annotations): Promise<void> {
    await this.#annotated(
      () => this.#writer.record(this.#object, records),
      () => records,
    );
  }

  /** See {@link ObjectWriter.sign}. */
  async sign(records: Annotations): Promise<void> {
    await this.#annotated(
      () => this.#writer.sign(this.#object, records),
      () => records,
    );
  }

  async annotate(annotations: Annotations): Promise<void> {
    await this.#annotated(
      () => this.#writer.annotate(this.#object, annotations),
      () => annotations,
    );
  }

  /** See {@link ObjectWriter.insist}. */
  async insist(annotations: (latest: ManagedObject) => Annotations): Promise<void> {
    let written: Annotations = {};
    const perform = () =>
      this.#writer.insist(this.#object, (latest) => {
        written = annotations(latest);
        return written;
      });
    await this.#annotated(perform, () => written);
  }

  async writeStatus(status: Readonly<Record<string, unknown>>): Promise<void> {
    this.#written(await this.#writer.writeStatus(this.#object, status));
  }

  /** Whatever else was changed meanwhile: what the finalizer guards is gone. */
  release(): Promise<void> {
    // Kubernetes may tell of its end before it answers.
    this.#facts.isLetGo = true;
    return this.#writer.removeFinalizer(this.#object);
  }

  delete(): Promise<void> {
    return this.#writer.delete(this.#object);
  }

  async #annotated(perform: () => Promise<ManagedObject>, written: () => Annotations): Promise<void> {
    const before = this.#object;
    try {
      this.#written(await perform());
    } catch (error) {
      // It may have been carried out, or may be yet.
      if (!isConflict(error)) delete this.#facts.recordsOpenUntil;
      throw error;
    }
    if (this.#object !== before) noteWritten(this.#facts, this.#object, written());
  }

  #written(latest: ManagedObject): void {
    if (latest !== this.#object) this.#met(latest);
  }

  #met(latest: ManagedObject): void {
    this.#object = latest;
    this.#isConfirmed = true;
    this.#facts.wasThere = true;
  }
}
