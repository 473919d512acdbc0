import type { KindController } from '../kinds/controller.ts';
import type { KubeClient } from '../kube/client.ts';
import { isNotFound } from '../kube/errors.ts';
import { keyOf, type ResourceType } from '../kube/types.ts';
import { accountKeyOf } from '../reconcile/claims.ts';
import { conditionOf, type ManagedObject } from '../reconcile/fields.ts';

const index = 'account';

export interface AccountUsersOptions {
  readonly kinds: readonly KindController[];
  /** The types of those kinds. */
  readonly types: readonly ResourceType[];
  readonly client: KubeClient;
  /** A resource does not use the account any more. */
  readonly onReleased: (account: string) => void;
}

/** The resources of every kind, by the account that they use. */
export class AccountUsers {
  readonly #options: AccountUsersOptions;

  constructor(options: AccountUsersOptions) {
    this.#options = options;
    for (const { resources } of options.kinds) {
      resources.addIndex(index, (object) => [accountKeyOf(object)]);
      resources.onChange(
        ({ type, object, old }) => {
          const before = type === 'delete' ? object : old;
          const account = before && accountKeyOf(before);
          if (account === undefined || (type !== 'delete' && account === accountKeyOf(object))) return;
          options.onReleased(account);
        },
        { ownWrites: true },
      );
    }
  }

  /** Asks for a reconcile of all who use the account, or of those that are not Ready. */
  wake(account: string, which: 'all' | 'troubled'): void {
    for (const kind of this.#options.kinds) {
      const users = new Set(kind.resources.byIndex(index, account).filter((user) => which === 'all' || !isReady(user)));
      if (users.size > 0) kind.enqueueWhere((object) => users.has(object));
    }
  }

  /** Those that this process knows of; when there are none, whatever the API server knows, of other shards too. */
  async of(account: ManagedObject): Promise<readonly ManagedObject[]> {
    const key = keyOf(account);
    const known = this.#options.kinds.flatMap(({ resources }) => resources.byIndex(index, key));
    if (known.length > 0) return known;
    const lists = await Promise.all(this.#options.types.map((type) => this.#list(type, account.metadata.namespace)));
    return lists.flat().filter((object) => accountKeyOf(object) === key);
  }

  /** A kind that is not installed has no resources. */
  async #list(type: ResourceType, namespace: string | undefined): Promise<readonly ManagedObject[]> {
    try {
      return (await this.#options.client.listAll<ManagedObject>(type, { namespace })).items;
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }
}

function isReady(object: ManagedObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}
