import type { ManagedObject } from './resource.ts';
import type { Annotations, ObjectWriter } from './writer.ts';

/**
 * The resource that a reconcile is about, as it was last written: every write of a flow goes through this, so that none
 * is based on, and nothing is concluded from, what it was before.
 */
export class CurrentResource {
  readonly #writer: ObjectWriter;
  #object: ManagedObject;

  constructor(object: ManagedObject, writer: ObjectWriter) {
    this.#object = object;
    this.#writer = writer;
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

  /** See {@link ObjectWriter.record}. */
  async record(records: Annotations): Promise<void> {
    this.#object = await this.#writer.record(this.#object, records);
  }

  async annotate(annotations: Annotations): Promise<void> {
    this.#object = await this.#writer.annotate(this.#object, annotations);
  }

  /** See {@link ObjectWriter.insist}. */
  async insist(annotations: (latest: ManagedObject) => Annotations): Promise<void> {
    this.#object = await this.#writer.insist(this.#object, annotations);
  }

  async writeStatus(status: Readonly<Record<string, unknown>>): Promise<void> {
    this.#object = await this.#writer.writeStatus(this.#object, status);
  }

  /** Whatever else was changed meanwhile: what the finalizer guards is gone. */
  release(): Promise<void> {
    return this.#writer.removeFinalizer(this.#object);
  }

  delete(): Promise<void> {
    return this.#writer.delete(this.#object);
  }
}
