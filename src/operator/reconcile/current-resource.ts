import type { Facts } from './memory.ts';
import type { ManagedObject } from './resource.ts';
import type { Annotations, Fate, ObjectWriter } from './writer.ts';

/**
 * The resource that a reconcile is about, as it was last written: every write of a flow goes through this, so that none
 * is based on, and nothing is concluded from, what it was before.
 */
export class CurrentResource {
  readonly #writer: ObjectWriter;
  readonly #facts: Pick<Facts, 'wasThere'>;
  #object: ManagedObject;

  /** @param facts where this process remembers that it was there */
  constructor(object: ManagedObject, writer: ObjectWriter, facts: Pick<Facts, 'wasThere'> = {}) {
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
   * Before the first call of this process that puts or removes something for it: a list that is behind has what has gone, and
   * what that had may be another's by now. See {@link ObjectWriter.confirm}; what a flow has written to is there.
   */
  async confirm(): Promise<void> {
    if (this.#facts.wasThere === true) return;
    this.#object = await this.#writer.confirm(this.#object);
    this.#facts.wasThere = true;
  }

  /** Of another one of its kind. See {@link ObjectWriter.fateOf}. */
  fateOf(other: ManagedObject): Promise<Fate> {
    return this.#writer.fateOf(other);
  }

  /** See {@link ObjectWriter.record}. */
  async record(records: Annotations): Promise<void> {
    this.#written(await this.#writer.record(this.#object, records));
  }

  async annotate(annotations: Annotations): Promise<void> {
    this.#written(await this.#writer.annotate(this.#object, annotations));
  }

  /** See {@link ObjectWriter.insist}. */
  async insist(annotations: (latest: ManagedObject) => Annotations): Promise<void> {
    this.#written(await this.#writer.insist(this.#object, annotations));
  }

  async writeStatus(status: Readonly<Record<string, unknown>>): Promise<void> {
    this.#written(await this.#writer.writeStatus(this.#object, status));
  }

  /** Whatever else was changed meanwhile: what the finalizer guards is gone. */
  release(): Promise<void> {
    return this.#writer.removeFinalizer(this.#object);
  }

  delete(): Promise<void> {
    return this.#writer.delete(this.#object);
  }

  #written(latest: ManagedObject): void {
    if (latest !== this.#object) this.#facts.wasThere = true;
    this.#object = latest;
  }
}
