import type { Log } from '../../../common/log.ts';
import type { Runtime } from '../../../common/runtime.ts';
import type { KubeClient } from '../../kube/client.ts';
import { Semaphore } from '../../kube/semaphore.ts';
import { configMapType, type ResourceType, secretType } from '../../kube/types.ts';
import { Coverage } from './coverage.ts';
import { Referent } from './referent.ts';
import type { DataObject } from './values.ts';

const types = { Secret: secretType, ConfigMap: configMapType };

/** Each may be 1 MiB. */
const readsAtATime = 4;

export interface ReferentsOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  readonly reader: KubeClient;
  readonly log: Log;
  /** Those that are watched; empty for all. */
  readonly namespaces: readonly string[];
}

/** The Secrets and ConfigMaps that anything in this operator refers to, each once. */
export class Referents {
  readonly #options: ReferentsOptions;
  readonly #coverage: Coverage;
  readonly #reads = new Semaphore(readsAtATime);
  readonly #referents = new Map<string, Referent>();

  constructor(options: ReferentsOptions) {
    const { reader: client, namespaces } = options;
    this.#options = options;
    this.#coverage = new Coverage({ ...options, client, clusterWide: namespaces.length === 0 });
  }

  /** Known until it is let go, when nobody uses it. */
  at(kind: keyof typeof types, namespace: string, name: string): Referent {
    const id = `${kind} ${namespace}/${name}`;
    const known = this.#referents.get(id);
    if (known !== undefined) return known;
    const type = types[kind];
    const { monotonic, random } = this.#options;
    const load = (signal: AbortSignal) => this.#load(type, namespace, name, signal);
    const referent = new Referent({ ...{ type, namespace, name, load }, monotonic, random });
    this.#referents.set(id, referent);
    this.#coverage.add(referent);
    return referent;
  }

  letGo(referent: Referent): void {
    if (referent.isUsed) return;
    const { type, namespace, name } = referent;
    this.#referents.delete(`${type.kind} ${namespace}/${name}`);
    this.#coverage.remove(referent);
    referent.close();
  }

  close(): void {
    this.#coverage.close();
    for (const referent of this.#referents.values()) referent.close();
    this.#referents.clear();
  }

  /** By a list of one: who may list and watch need not be allowed to get. */
  async #load(
    type: ResourceType,
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<DataObject | undefined> {
    await this.#reads.acquire();
    try {
      const selection = { namespace, fieldSelector: `metadata.name=${name}` };
      const { items } = await this.#options.reader.list<DataObject>(type, { ...selection, signal });
      return items[0];
    } finally {
      this.#reads.release();
    }
  }
}
