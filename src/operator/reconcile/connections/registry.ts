import { JoinedSignal } from '../../../common/joined-signal.ts';
import type { Runtime } from '../../../common/runtime.ts';
import type { InformerGroup } from '../../controller/informer-group.ts';
import { keyOf } from '../../kube/types.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { UnreadError } from '../status/outcome.ts';

/** What lives in this process for one resource that others use: an account, an agent. */
export interface RegistryEntry {
  /** Does what a change of the resource asks for. */
  follow(object: ManagedObject): void;
  /** Why, as the end of a sentence that begins with the resource, it cannot be used now; undefined when it can. */
  problem(): string | undefined;
  /** Changes with whatever else matters to its dependents, to those that are Ready too. */
  state(): string;
  /** Waits a little for what it has to read before it can be used. */
  whenRead?(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Which dependents: all of them; those that are not Ready; all, but the Ready ones no more urgently than when they are met. */
export type Which = 'all' | 'unready' | 'met';

export interface RegistryOptions<Entry> extends Pick<Runtime, 'monotonic'> {
  readonly open: (key: string, object: ManagedObject) => Entry;
  /** What uses the resource is to be reconciled. */
  readonly enqueueDependents: (key: string, which: Which) => void;
}

interface Known<Entry> {
  readonly entry: Entry;
  /** What the dependents were last enqueued for. */
  readonly problem: string | undefined;
  readonly state: string;
}

type Followed = Pick<InformerGroup<ManagedObject>, 'onChange' | 'whenSynced' | 'synced' | 'missing' | 'refused'>;

/** The shared connections of this operator, one for each resource that stands for one, by `namespace/name`. */
export class Registry<Entry extends RegistryEntry> {
  readonly #options: RegistryOptions<Entry>;
  readonly #known = new Map<string, Known<Entry>>();
  #resources: Followed | undefined;

  constructor(options: RegistryOptions<Entry>) {
    this.#options = options;
  }

  /** Keeps an entry for each of the resources, from now on. */
  follow(resources: Followed): void {
    this.#resources = resources;
    resources.onChange(
      ({ type, object }) => {
        if (type === 'delete') this.#remove(keyOf(object));
        else this.#put(keyOf(object), object);
      },
      { ownWrites: true },
    );
  }

  entry(key: string): Entry | undefined {
    return this.#known.get(key)?.entry;
  }

  /** As `entry`. Throws UnreadError as long as they are not read: then none is missing. */
  protected entryIfRead(key: string): Entry | undefined {
    const entry = this.entry(key);
    if (entry === undefined && this.isUnread) throw new UnreadError(`${key} is not read yet`);
    return entry;
  }

  /** They are on their way: what is not known may be there. */
  protected get isUnread(): boolean {
    if (this.#resources === undefined) return false;
    const { synced, missing, refused } = this.#resources;
    return !synced && !missing && refused.length === 0;
  }

  /** All of them are known. */
  protected get synced(): boolean {
    return this.#resources?.synced === true;
  }

  entries(): readonly Entry[] {
    return [...this.#known.values()].map(({ entry }) => entry);
  }

  /** Resolves when they can be used, or after a while: what needs none of them does not wait for ever. */
  async whenKnown(signal: AbortSignal): Promise<void> {
    using limit = new JoinedSignal(signal, this.#options.monotonic.timeout(10_000));
    await this.#resources?.whenSynced(limit.signal).catch(() => {});
    await Promise.all(this.entries().map((entry) => entry.whenRead?.(limit.signal)));
  }

  async close(): Promise<void> {
    await Promise.all(this.entries().map((entry) => entry.close()));
  }

  /** Something of it changed that the resource does not show. */
  protected wakeDependents(key: string): void {
    const known = this.#known.get(key);
    if (known !== undefined) this.#known.set(key, { ...known, problem: known.entry.problem() });
    this.#options.enqueueDependents(key, 'all');
  }

  #put(key: string, object: ManagedObject): void {
    const before = this.#known.get(key);
    before?.entry.follow(object);
    const entry = before?.entry ?? this.#options.open(key, object);
    const problem = entry.problem();
    const state = entry.state();
    this.#known.set(key, { entry, problem, state });
    const isOther = before !== undefined && before.state !== state;
    if (before !== undefined && !isOther && before.problem === problem) return;
    this.#options.enqueueDependents(key, before === undefined ? 'met' : whichAfter(before, isOther));
  }

  #remove(key: string): void {
    void this.entry(key)?.close();
    this.#known.delete(key);
    this.#options.enqueueDependents(key, 'all');
  }
}

function whichAfter({ problem }: Known<unknown>, isOther: boolean): Which {
  return problem === undefined || isOther ? 'all' : 'unready';
}
