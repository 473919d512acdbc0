import type { InformerGroup } from '../controller/informer-group.ts';
import { keyOf } from '../kube/types.ts';
import { Dependents } from './dependents.ts';
import { everyShard } from './informers.ts';
import type { Kind } from './kind.ts';
import type { KindController, SharedOptions } from './kind-controller.ts';
import type { Registry, RegistryEntry } from './registry.ts';
import type { ManagedObject } from './resource.ts';

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
}

/** A family of kinds at work: their controllers, and the registry of the connections that they share. */
export class Family<Entry extends RegistryEntry, Options extends SharedOptions> {
  /** The provider first. */
  readonly kinds: readonly KindController[];
  readonly provider: KindController;
  readonly dependents: Dependents;
  readonly #dependentKinds: readonly KindController[];
  readonly #everyProvider: InformerGroup<ManagedObject>;
  readonly #registry: Registry<Entry>;

  constructor({ kinds, controllers, usedBy, usedAs, registry }: FamilyOptions<Entry, Options>) {
    this.#registry = registry;
    const uses = (object: ManagedObject) => ({ [usedAs]: usedBy(object) });
    this.#dependentKinds = kinds.dependents.map(({ controller }) => controller({ ...controllers, uses }));
    this.dependents = new Dependents({
      kinds: this.#dependentKinds,
      usedBy,
      client: controllers.client,
      onReleased: (key) => this.enqueueProvider(key),
    });
    this.provider = kinds.provider.controller({
      ...controllers,
      uses: (object) => ({ [usedAs]: keyOf(object) }),
      dependents: this.dependents,
    });
    this.#everyProvider = everyShard(this.provider, controllers);
    registry.follow(this.#everyProvider);
    this.kinds = [this.provider, ...this.#dependentKinds];
  }

  /** The resource that stands for the connection is to be reconciled. */
  enqueueProvider(key: string): void {
    this.provider.enqueueWhere((object) => keyOf(object) === key);
  }

  /** Follows all resources until the signal aborts; on every replica. */
  async watch(signal: AbortSignal): Promise<void> {
    const informers = new Set([this.#everyProvider, ...this.kinds.map(({ resources }) => resources)]);
    await Promise.all([...informers].map((resources) => resources.run(signal)));
  }

  /** Reconciles until `leading` aborts, then finishes what is under way. Once only. */
  async run(leading: AbortSignal): Promise<void> {
    await Promise.all([this.provider.run(leading), this.#runDependents(leading)]);
  }

  close(): Promise<void> {
    return this.#registry.close();
  }

  async #runDependents(leading: AbortSignal): Promise<void> {
    await this.#registry.whenKnown(leading);
    await Promise.all(this.#dependentKinds.map((kind) => kind.run(leading)));
  }
}
