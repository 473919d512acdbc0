import { JoinedSignal } from '../../common/joined-signal.ts';
import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Informer } from '../controller/informer.ts';
import type { KubeClient } from '../kube/client.ts';
import { configMapType, type KubeObject, secretType } from '../kube/types.ts';
import { excessOfText } from './bounds.ts';
import { DependencyError } from './outcome.ts';

/** The first look at an object takes no longer than this; then it counts as one that cannot be read. */
const firstReadMs = 10_000;

/** A value that lives in another object of the resource's own namespace. */
export interface Reference {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  readonly key: string;
}

const types = { Secret: secretType, ConfigMap: configMapType };

interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** One object that is referred to, followed by a watch on just that object. */
export class Referent {
  readonly #id: string;
  readonly #clock: ReferencesOptions['clock'];
  readonly #kind: Reference['kind'];
  readonly #informer: Informer<DataObject>;
  readonly #stop = new AbortController();
  /** Keys of the resources that refer to it. */
  readonly users = new Set<string>();

  constructor({ kind, name }: Reference, namespace: string, options: ReferencesOptions) {
    const { reader: client, clock, random, log, enqueue } = options;
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    this.#id = `${kind} ${namespace}/${name}`;
    this.#kind = kind;
    this.#clock = clock;
    this.#informer = new Informer({ client, type: types[kind], ...selection, clock, random, log });
    this.#informer.onChange(({ initial }) => {
      for (const user of this.users) enqueue(user, initial);
    });
    void this.#informer.run(this.#stop.signal);
  }

  /** Resolves when there was a first look at the object, or when that takes too long; answers whether there was. */
  async whenRead(signal?: AbortSignal): Promise<boolean> {
    using end = new JoinedSignal(this.#stop.signal, this.#clock.timeout(firstReadMs), signal);
    await this.#informer.whenSynced(end.signal).catch(() => {});
    return this.#informer.synced;
  }

  /** The value as text. Throws DependencyError, naming what is missing or too long. */
  read(key: string): string {
    const id = this.#id;
    const [object] = this.#informer.list();
    if (object === undefined && !this.#informer.synced) {
      throw new DependencyError(`${id} is not read yet; if it stays so, ${rightsOf(this.#kind)}`);
    }
    if (object === undefined) throw new DependencyError(`${id} does not exist`);
    const text = this.#textOf(object, key);
    if (text === undefined) throw new DependencyError(`${id} has no key ${JSON.stringify(key)}`);
    const excess = excessOfText(text);
    if (excess !== undefined) throw new DependencyError(`${id}: the value of ${JSON.stringify(key)} ${excess}`);
    return text;
  }

  close(): void {
    this.#stop.abort();
  }

  #textOf(object: DataObject, key: string): string | undefined {
    const text = object.data?.[key];
    if (this.#kind === 'ConfigMap' && text !== undefined) return text;
    const encoded = this.#kind === 'Secret' ? text : object.binaryData?.[key];
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
  }
}

/** What one resource reads in one reconcile. */
export interface ReferenceSession {
  /** The value as text. Throws DependencyError, naming what is missing. */
  read(reference: Reference): Promise<string>;
  /** What was not read in this session is not referred to any more. */
  end(): void;
}

export interface ReferencesOptions extends Pick<Runtime, 'clock' | 'random'> {
  readonly reader: KubeClient;
  readonly log: Log;
  /** The resource of this key refers to what was read for the first time (`initial`), or has changed. */
  readonly enqueue: (user: string, initial: boolean) => void;
}

/**
 * Secrets and ConfigMaps that resources refer to, each by a watch on just that one object: what nobody refers to is
 * never read, however much of it there is. A change enqueues the resources that refer to it.
 */
export class References {
  readonly #options: ReferencesOptions;
  readonly #referents = new Map<string, Referent>();

  constructor(options: ReferencesOptions) {
    this.#options = options;
  }

  /** @param user key of the resource (`namespace/name`); it can name objects of its own namespace only */
  session(user: string): ReferenceSession {
    const read = new Set<Referent>();
    return {
      read: async (reference) => {
        const referent = this.follow(user, reference);
        read.add(referent);
        if (await referent.whenRead()) return referent.read(reference.key);
        const id = idOf(user, reference);
        throw new DependencyError(`${id} cannot be read: ${rightsOf(reference.kind)}`);
      },
      end: () => this.#release(user, read),
    };
  }

  /** What the resource refers to, until it is forgotten. */
  follow(user: string, reference: Reference): Referent {
    const id = idOf(user, reference);
    const referent = this.#referents.get(id) ?? new Referent(reference, namespaceOf(user), this.#options);
    this.#referents.set(id, referent);
    referent.users.add(user);
    return referent;
  }

  /** The resource is gone, or refers to nothing but `kept`. */
  forget(user: string, kept?: Referent): void {
    this.#release(user, new Set(kept === undefined ? [] : [kept]));
  }

  close(): void {
    for (const referent of this.#referents.values()) referent.close();
    this.#referents.clear();
  }

  #release(user: string, kept: ReadonlySet<Referent>): void {
    for (const [id, referent] of this.#referents) {
      if (kept.has(referent) || !referent.users.delete(user) || referent.users.size > 0) continue;
      referent.close();
      this.#referents.delete(id);
    }
  }
}

/** What to do where the operator is not let. */
function rightsOf(kind: Reference['kind']): string {
  const how = kind === 'Secret' ? ' (rbac.secrets or rbac.secretNames of the chart)' : '';
  return `check that the operator may list and watch it${how}`;
}

function idOf(user: string, { kind, name }: Reference): string {
  return `${kind} ${namespaceOf(user)}/${name}`;
}

function namespaceOf(user: string): string {
  return user.slice(0, user.indexOf('/'));
}
