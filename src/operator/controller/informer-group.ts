import { type KubeObject, keyOf } from '../kube/types.ts';
import type { ChangeHandler, HandlerOptions, Informer } from './informer.ts';

/** The informers of one type over several namespaces (or one over all of them), read as one. */
export class InformerGroup<T extends KubeObject> {
  readonly #informers: readonly Informer<T>[];

  constructor(informers: readonly Informer<T>[]) {
    this.#informers = informers;
  }

  /** But for namespaces that may not be read, as after they were deleted: those hold up nothing where others can be read. */
  get synced(): boolean {
    const isSettled = ({ synced, refused }: Informer<T>) => synced || refused;
    return this.#informers.some(({ synced }) => synced) && this.#informers.every(isSettled);
  }

  /** The API server does not serve the type, as without its definition. */
  get missing(): boolean {
    return this.#informers.some(({ missing }) => missing);
  }

  /** Namespaces that may not be read now. */
  get refused(): readonly string[] {
    return this.#informers.flatMap(({ refused, namespace }) => (refused && namespace !== undefined ? [namespace] : []));
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.run(signal)));
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.whenSettled(signal)));
    if (!this.synced) await Promise.race(this.#informers.map((informer) => informer.whenSynced(signal)));
  }

  get(key: string): T | undefined {
    for (const informer of this.#informers) {
      const found = informer.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  list(): readonly T[] {
    return this.#informers.flatMap((informer) => informer.list());
  }

  addIndex(name: string, values: (object: T) => readonly string[]): void {
    for (const informer of this.#informers) informer.addIndex(name, values);
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#informers.flatMap((informer) => informer.byIndex(name, value));
  }

  onChange(handler: ChangeHandler<T>, options?: HandlerOptions): void {
    for (const informer of this.#informers) informer.onChange(handler, options);
  }

  /** As `Informer.write`, by the informer that has the object. */
  write(key: string, perform: () => Promise<T>): Promise<T> {
    const informer = this.#holderOf(key);
    return informer === undefined ? perform() : informer.write(key, perform);
  }

  /** As `Informer.learn`, by the informer that has the object. */
  learn(object: T | undefined, known: T): void {
    this.#holderOf(keyOf(known))?.learn(object, known);
  }

  #holderOf(key: string): Informer<T> | undefined {
    return this.#informers.find((informer) => informer.get(key) !== undefined);
  }
}
