import type { ApiObject } from '../object.ts';

/**
 * One state of one object as it is kept: its JSON text, which is what lists and watches send, and which takes a
 * fraction of the memory of the object itself. It is parsed again whenever someone looks inside.
 */
export class StoredObject {
  /** `namespace/name`; cluster-scoped objects have an empty namespace. */
  readonly key: string;
  readonly apiVersion: string;
  readonly text: string;
  #object: ApiObject | undefined;

  private constructor(key: string, apiVersion: string, text: string, object?: ApiObject) {
    this.key = key;
    this.apiVersion = apiVersion;
    this.text = text;
    this.#object = object;
  }

  static of(object: ApiObject): StoredObject {
    const { namespace, name = '' } = object.metadata;
    return new StoredObject(keyOf(namespace, name), object.apiVersion, JSON.stringify(object), object);
  }

  static parse(text: string): StoredObject {
    const stored = StoredObject.of(JSON.parse(text));
    return new StoredObject(stored.key, stored.apiVersion, text);
  }

  get object(): ApiObject {
    return this.#object ?? JSON.parse(this.text);
  }

  /** True in every namespace when `namespace` is undefined. */
  isIn(namespace: string | undefined): boolean {
    return namespace === undefined || this.key.startsWith(`${namespace}/`);
  }

  /** Leaves only the text. */
  folded(): this {
    this.#object = undefined;
    return this;
  }
}

/** `namespace/name`; cluster-scoped objects have an empty namespace. */
export function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}
