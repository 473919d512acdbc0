import type { ApiObject } from '../../../src/reference/kube-api/object.ts';
import type { World } from '../core/world.ts';

const group = 'edge-operator.dev/';
const externalId = /\b[a-z]+_[A-Za-z0-9]{27}\b/g;

/**
 * Knows which resource an external id belongs to. Ids are drawn anew when a story loses one of its resources; names of
 * resources stay.
 */
export class ObjectNames {
  readonly close: () => void;
  readonly #names = new Map<string, string>();

  constructor(world: World) {
    const { kube } = world;
    for (const { group: of, storage } of kube.registry.types) {
      if (`${of}/` !== group) continue;
      for (const { object } of kube.store.list(storage)) this.#learn(object);
    }
    this.close = world.onChange(({ current }) => {
      if (current.apiVersion.startsWith(group)) this.#learn(current.object);
    });
  }

  /** The text with names in place of the ids that are known. */
  in(text: string): string {
    return text.replace(externalId, (id) => this.#names.get(id) ?? id);
  }

  /** Whoever was seen with an id first gives it its name for good. */
  #learn({ kind, metadata: { namespace, name, annotations = {} }, status }: ApiObject): void {
    const { id } = (status ?? {}) as { readonly id?: unknown };
    for (const known of [annotations['edge-operator.dev/external-id'], id]) {
      if (typeof known === 'string' && !this.#names.has(known)) this.#names.set(known, `${kind}/${namespace}/${name}`);
    }
  }
}
