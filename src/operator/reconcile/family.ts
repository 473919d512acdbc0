import { keyOf } from '../kube/types.ts';
import { Dependents } from './connections/dependents.ts';
import type { Registry, RegistryEntry } from './connections/registry.ts';
import type { Kind } from './kind.ts';
import type { KindController, SharedOptions } from './kind-controller.ts';
import type { ManagedObject } from './resource/resource.ts';

/** Kinds that belong together: one whose resources stand for connections, and those that use them. */
export interface FamilyKinds<Options> {
  /** CloudAccount, Agent. */
  readonly provider: Kind<Options & { readonly dependents: Dependents }>;
  readonly dependents: readonly Kind<Options>[];
}

export interface FamilyOptions<Entry extends RegistryEntry, Options> {
  readonly kinds: FamilyKinds<Options>;
  /** For every kind. */
  readonly controllers: Options;
  /** Key of the connection that a dependent uses. */
  readonly usedBy: (object: ManagedObject) => string;
  /** What the log calls a connection. */
  readonly usedAs: 'account' | 'agent';
  readonly registry: Registry<Entry>;
  /** The shards that this process works on; the family's to write. */
  readonly held: Set<number>;
}

/** A family of kinds at work: their controllers, and the registry of the connections that they share. */
export class Family<Entry extends RegistryEntry, Options extends SharedOptions> {
  /** The provider first. */
  readonly kinds: readonly KindController[];
  readonly provider: KindController;
  readonly dependents: Dependents;
  readonly #dependentKinds: readonly KindController[];
  readonly #held: Set<number>;
  readonly #registry: Registry<Entry>;

  constructor({ kinds, controllers, usedBy, usedAs, registry, held }: FamilyOptions<Entry, Options>) {
    this.#registry = registry;
    this.#held = held;
    const uses = (object: ManagedObject) => ({ [usedAs]: usedBy(object) });
    this.#dependentKinds = kinds.dependents.map(({ controller }) => controller({ ...controllers, uses }));
    this.dependents = new Dependents({
      kinds: this.#dependentKinds,
      usedBy,
      client: controllers.client,
      onNews: (key) => this.enqueueProvider(key),
    });
    this.provider = kinds.provider.controller({
      ...controllers,
      uses: (object) => ({ [usedAs]: keyOf(object) }),
      dependents: this.dependents,
    });
    registry.follow(this.provider.resources);
    this.kinds = [this.provider, ...this.#dependentKinds];
  }

  /** The resource that stands for the connection is to be reconciled. */
  enqueueProvider(key: string): void {
    const provider = this.provider.resources.get(key);
    if (provider !== undefined) this.provider.enqueue([provider]);
  }

  /** Follows all resources until the signal aborts; on every replica. */
  async watch(signal: AbortSignal): Promise<void> {
    await Promise.all(this.kinds.map(({ resources }) => resources.run(signal)));
  }

  /** Reconciles what is held until the signal aborts; on every replica. Once only. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.provider.run(signal), this.#runDependents(signal)]);
  }

  /** Works on the shard until `term` aborts, and returns when nothing of it is under way any more. */
  async hold(shard: number, term: AbortSignal): Promise<void> {
    this.#held.add(shard);
    for (const kind of this.kinds) kind.take(shard);
    await aborted(term);
    this.#held.delete(shard);
    await Promise.all(this.kinds.map((kind) => kind.drop(shard)));
  }

  close(): Promise<void> {
    return this.#registry.close();
  }

  async #runDependents(signal: AbortSignal): Promise<void> {
    await this.#registry.whenKnown(signal);
    await Promise.all(this.#dependentKinds.map((kind) => kind.run(signal)));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
