/** What one process remembers of one resource. */
export interface Facts {
  /** When this process first met the resource's unresolved create, or saw the create fail. */
  unresolvedSince?: number;
  /** When a call for the resource last failed: what was known before that is not to be relied on. */
  failedAt?: number;
  /** What the cloud refused, by what was attempted, and until when it is not attempted again. */
  readonly refused: Map<string, { readonly until: number; readonly message: string }>;
  /** The generation that the external object was last seen to be as asked for. */
  realizedGeneration?: number;
  /** External object that is known to be deleted while its resource still waits to go. */
  deletedID?: string;
  /** What was on record when the finalizer was last seen. */
  records?: Readonly<Record<string, string>>;
  /** The object was observed at least once by this process. */
  observed?: boolean;
}

/** Facts about resources that are worth remembering between two reconciles; losing them costs calls, never correctness. */
export class Memory {
  readonly #facts = new Map<string, Facts>();

  of(uid: string): Facts {
    const known = this.#facts.get(uid);
    if (known !== undefined) return known;
    const fresh: Facts = { refused: new Map() };
    this.#facts.set(uid, fresh);
    return fresh;
  }

  forget(uid: string): void {
    this.#facts.delete(uid);
  }
}
