import type { Clock } from '../../common/clock.ts';
import type { Log } from '../../common/log.ts';
import { Informer } from '../controller/informer.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject, ResourceType } from '../kube/types.ts';
import { DependencyError } from './outcome.ts';
import type { Reference } from './parts/part.ts';

/** The first look at an object takes no longer than this; then the resource is told that it cannot be read. */
const firstReadMs = 10_000;

const types: Readonly<Record<Reference['kind'], ResourceType>> = {
  Secret: { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true },
  ConfigMap: { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true },
};

interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

interface Watched {
  readonly informer: Informer<DataObject>;
  readonly stop: AbortController;
  /** Keys of the resources that refer to it. */
  readonly users: Set<string>;
}

/** What one resource reads in one reconcile. */
export interface ReferenceSession {
  /** The value as text. Throws DependencyError, naming what is missing. */
  read(reference: Reference): Promise<string>;
  /** What was not read in this session is not referred to any more. */
  end(): void;
}

/**
 * Secrets and ConfigMaps that resources refer to, each by a watch on just that one object: what nobody refers to is
 * never read, however much of it there is. A change wakes the resources that refer to it.
 */
export class References {
  readonly #reader: KubeClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #wake: (user: string) => void;
  readonly #watched = new Map<string, Watched>();

  constructor(options: { reader: KubeClient; clock: Clock; log: Log; wake: (user: string) => void }) {
    this.#reader = options.reader;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#wake = options.wake;
  }

  /** @param user key of the resource (`namespace/name`); it can name objects of its own namespace only */
  session(user: string): ReferenceSession {
    const namespace = user.slice(0, user.indexOf('/'));
    const read = new Set<string>();
    return {
      read: async (reference) => {
        const id = `${reference.kind} ${namespace}/${reference.name}`;
        read.add(id);
        return this.#read(this.#watch(id, reference, namespace, user), id, reference);
      },
      end: () => {
        for (const id of this.#watched.keys()) if (!read.has(id)) this.#release(id, user);
      },
    };
  }

  /** The resource is gone. */
  forget(user: string): void {
    for (const id of this.#watched.keys()) this.#release(id, user);
  }

  close(): void {
    for (const { stop } of this.#watched.values()) stop.abort();
    this.#watched.clear();
  }

  async #read({ informer, stop }: Watched, id: string, reference: Reference): Promise<string> {
    const limit = AbortSignal.any([stop.signal, AbortSignal.timeout(firstReadMs)]);
    await informer.whenSynced(limit).catch(() => {
      throw new DependencyError(`${id} cannot be read: check that the operator may get and watch it`);
    });
    const [object] = informer.list();
    if (object === undefined) throw new DependencyError(`${id} does not exist`);
    const text = object.data?.[reference.key];
    const encoded = reference.kind === 'Secret' ? text : object.binaryData?.[reference.key];
    if (reference.kind === 'ConfigMap' && text !== undefined) return text;
    if (encoded === undefined) throw new DependencyError(`${id} has no key ${JSON.stringify(reference.key)}`);
    return Buffer.from(encoded, 'base64').toString('utf8');
  }

  #watch(id: string, { kind, name }: Reference, namespace: string, user: string): Watched {
    const known = this.#watched.get(id);
    if (known !== undefined) {
      known.users.add(user);
      return known;
    }
    const informer = new Informer<DataObject>({
      client: this.#reader,
      type: types[kind],
      namespace,
      fieldSelector: `metadata.name=${name}`,
      clock: this.#clock,
      log: this.#log,
    });
    const watched = { informer, stop: new AbortController(), users: new Set([user]) };
    this.#watched.set(id, watched);
    informer.onChange(({ initial }) => {
      if (!initial) for (const each of watched.users) this.#wake(each);
    });
    void informer.run(watched.stop.signal);
    return watched;
  }

  #release(id: string, user: string): void {
    const watched = this.#watched.get(id);
    if (watched === undefined || !watched.users.delete(user) || watched.users.size > 0) return;
    watched.stop.abort();
    this.#watched.delete(id);
  }
}
