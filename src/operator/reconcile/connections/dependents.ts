import type { Share } from '../../controller/controller.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isNothingThere } from '../../kube/errors.ts';
import { keyOf, type ResourceType } from '../../kube/types.ts';
import { doubtIn } from '../external/census.ts';
import type { KindController } from '../kind-controller.ts';
import { withoutBulk } from '../resource/bulk.ts';
import { conditionOf, type ManagedObject } from '../resource/resource.ts';
import { isReleased } from '../resource/writer.ts';
import type { Which } from './registry.ts';

const index = 'used';

export interface DependentsOptions {
  readonly kinds: readonly KindController[];
  /** Key of what a resource of these kinds uses. */
  readonly usedBy: (object: ManagedObject) => string;
  readonly client: KubeClient;
  /** A resource that holds what has this key does not use it any more, or says something else of it. */
  readonly onNews: (key: string) => void;
}

/** The resources of some kinds, by what they use: an account, or an agent. */
export class Dependents {
  readonly #options: DependentsOptions;
  /** What a kind leaves outside is to be removed through what it uses. */
  readonly #holding: readonly KindController[];

  constructor(options: DependentsOptions) {
    const { kinds, usedBy, onNews } = options;
    this.#options = options;
    this.#holding = kinds.filter(({ leavesNothing }) => !leavesNothing);
    for (const { resources, leavesNothing } of kinds) {
      resources.addIndex(index, (object) => [usedBy(object)]);
      if (leavesNothing) continue;
      resources.onChange(
        ({ type, object, old }) => {
          const before = type === 'delete' ? object : old;
          const isReleasing = before !== undefined && (type === 'delete' || usedBy(before) !== usedBy(object));
          if (isReleasing) onNews(usedBy(before));
          // What is met may say what an earlier process found.
          else if ((old && doubtIn(old)) !== doubtIn(object)) onNews(usedBy(object));
        },
        { ownWrites: true },
      );
    }
  }

  /** Asks for a reconcile of those that use it. */
  enqueue(key: string, which: Which): void {
    // One that came before what it uses was anybody's, by its name alone.
    const isNews = (user: ManagedObject) => which !== 'met' || !isReady(user);
    for (const { resources, enqueue } of this.#options.kinds) {
      const users = resources.byIndex(index, key);
      enqueue(which === 'unready' ? users.filter((user) => !isReady(user)) : users, isNews);
    }
  }

  /** Those that hold what they use until they are gone, as far as this process knows. */
  known(key: string): readonly ManagedObject[] {
    return this.#holding.flatMap(({ resources }) => resources.byIndex(index, key)).filter(isHolding);
  }

  /** Nothing of such shares is under way any more, once it resolves. */
  async drain(isOver: (share: Share) => boolean): Promise<void> {
    await Promise.all(this.#options.kinds.map(({ controller }) => controller.drain(isOver)));
  }

  /** As `known`; when there are none, whatever the API server knows. */
  async of(used: ManagedObject): Promise<readonly ManagedObject[]> {
    const { usedBy } = this.#options;
    const key = keyOf(used);
    const known = this.known(key);
    if (known.length > 0) return known;
    const lists = await Promise.all(this.#holding.map(({ type }) => this.#list(type, used.metadata.namespace)));
    return lists.flat().filter((object) => usedBy(object) === key && isHolding(object));
  }

  /** A kind that is not installed has no resources. */
  async #list(type: ResourceType, namespace: string | undefined): Promise<readonly ManagedObject[]> {
    try {
      return (await this.#options.client.listAll<ManagedObject>(type, { namespace, keep: withoutBulk })).items;
    } catch (error) {
      if (isNothingThere(error)) return [];
      throw error;
    }
  }
}

/** It is not over and done with for us, though others may still hold it. */
function isHolding(object: ManagedObject): boolean {
  return !isReleased(object);
}

/** What a condition says while such resources are waited for: the first of them by name. */
export function namesOf(objects: readonly ManagedObject[]): string {
  const named = objects.slice(0, 5).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const more = objects.length > named.length ? ` and ${objects.length - named.length} more` : '';
  return `${named.join(', ')}${more}`;
}

function isReady(object: ManagedObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}
