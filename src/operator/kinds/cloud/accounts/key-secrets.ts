import type { Log } from '../../../../common/log.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { isConflict, isForbidden, isNotFound, KubeError } from '../../../kube/errors.ts';
import { type KubeObject, namespaceType, type ObjectMeta, secretType } from '../../../kube/types.ts';
import { accountFinalizer, annotation, recordIn } from '../../../reconcile/annotations.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import type { ObjectWriter } from '../../../reconcile/writer.ts';
import { definition } from '../cloud-account/schema.ts';

/** What is known of the Secret that an account names. */
export interface KeySecret {
  readonly name: string;
  /** As it was last read; undefined where there is none. */
  readonly metadata: ObjectMeta | undefined;
  /** There is an API key in it. */
  readonly isUsable: boolean;
}

export interface KeySecretsOptions {
  /** For reads and writes, on the leader only. */
  readonly client: KubeClient;
  readonly log: Log;
}

/**
 * Keeps the Secrets of accounts for as long as the accounts are there, by a finalizer for each account: what was made with
 * a key can be deleted with that key only, and a namespace is emptied in any order (ADR 13).
 */
export class KeySecrets {
  readonly #client: KubeClient;
  readonly #log: Log;
  /** Uids of accounts whose Secret may not be held; told once. */
  readonly #refused = new Set<string>();
  /** Those that are about to go. */
  readonly #letGo = new Set<string>();

  constructor({ client, log }: KeySecretsOptions) {
    this.#client = client;
    this.#log = log;
  }

  /** The account needs this Secret from now on, and no other. To be called before anything is made with its key. */
  async hold(account: ManagedObject, secret: KeySecret, writer: ObjectWriter): Promise<void> {
    const before = recordIn(account, annotation.keySecret);
    if (before !== undefined && before !== secret.name) await this.#release(account, before);
    // Recorded first: what is held must be known to whoever releases it.
    await writer.record(account, { [annotation.keySecret]: secret.name });
    const { metadata } = secret;
    if (metadata === undefined) return;
    const isHeld = metadata.finalizers?.includes(accountFinalizer(account)) === true;
    if (metadata.deletionTimestamp === undefined) {
      if (!isHeld && secret.isUsable) await this.#change(account, secret.name, withFinalizer);
    } else if (isHeld && !(await this.#isEnding(account))) await this.#release(account, secret.name);
  }

  /** The account is about to go. */
  async letGo(account: ManagedObject): Promise<void> {
    const { uid = '' } = account.metadata;
    const held = recordIn(account, annotation.keySecret);
    if (held !== undefined) await this.#release(account, held);
    this.#refused.delete(uid);
    this.#letGo.add(uid);
  }

  /** The account is not seen any more: it may be gone, and not by `letGo`. */
  forget(account: ManagedObject): void {
    if (this.#letGo.delete(account.metadata.uid ?? '')) return;
    this.#letGoWhenGone(account).catch((error: unknown) => {
      // A standby may not write, and need not.
      if (!(error instanceof KubeError)) return;
      const { namespace, name } = account.metadata;
      this.#log.warn('cannot let go of the Secret of an account that is gone', {
        ...{ namespace, account: name },
        error: error.message,
      });
    });
  }

  async #letGoWhenGone(account: ManagedObject): Promise<void> {
    const held = recordIn(account, annotation.keySecret);
    if (held === undefined) return;
    const found = await this.#client.get(definition.type, account.metadata);
    if (found?.metadata.uid !== account.metadata.uid) await this.#release(account, held);
  }

  #release(account: ManagedObject, name: string): Promise<void> {
    return this.#change(account, name, withoutFinalizer);
  }

  /** Whether the account will be deleted too. Where that may not be read a Secret is rather kept. */
  async #isEnding({ metadata: { namespace = '' } }: ManagedObject): Promise<boolean> {
    try {
      return (await this.#client.get(namespaceType, { name: namespace }))?.metadata.deletionTimestamp !== undefined;
    } catch (error) {
      if (isForbidden(error)) return true;
      throw error;
    }
  }

  async #change(account: ManagedObject, name: string, change: FinalizerChange): Promise<void> {
    try {
      while (!(await this.#attempt(account, name, change)));
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isForbidden(error)) throw error;
      this.#tellRefused(account, name, error);
    }
  }

  /** Answers whether it is done: not where the Secret has changed meanwhile. */
  async #attempt({ metadata: { namespace, ...account } }: ManagedObject, name: string, change: FinalizerChange) {
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    const [secret] = (await this.#client.list<KubeObject>(secretType, { ...selection, metadataOnly: true })).items;
    if (secret === undefined) return true;
    const { finalizers: present = [], resourceVersion, uid } = secret.metadata;
    const finalizers = change(present, accountFinalizer({ metadata: account }));
    if (finalizers.length === present.length) return true;
    const body = { metadata: { finalizers, resourceVersion, uid } };
    try {
      await this.#client.patch(secretType, { namespace, name }, { type: 'merge', body });
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  #tellRefused({ metadata: { namespace, name: account, uid = '' } }: ManagedObject, secret: string, error: KubeError) {
    if (this.#refused.has(uid)) return;
    this.#refused.add(uid);
    this.#log.warn('may not hold the Secret of an account: deleted before what uses it, it cannot be made up for', {
      ...{ namespace, account, secret },
      error: error.message,
    });
  }
}

type FinalizerChange = (present: readonly string[], own: string) => readonly string[];

const withFinalizer: FinalizerChange = (present, own) => (present.includes(own) ? present : [...present, own]);
const withoutFinalizer: FinalizerChange = (present, own) => present.filter((each) => each !== own);
