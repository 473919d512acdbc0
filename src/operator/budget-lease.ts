import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock, WallClock } from '../common/clock.ts';
import { type Lease, leaseType } from './controller/lease.ts';
import { mostText, renewalMs, type Stored, type UseStore, type WrittenAt } from './kinds/cloud/accounts/use-store.ts';
import type { KubeClient } from './kube/client.ts';
import { isAlreadyExists, isConflict, isNotFound, KubeError } from './kube/errors.ts';
import { microTime } from './kube/micro-time.ts';

const apiVersion = 'coordination.k8s.io/v1';
const kind = 'Lease';
const name = 'edge-operator-budget';
const annotation = 'edge-operator.dev/requests-sent';
const mostTries = 5;

export interface BudgetLeaseOptions {
  readonly client: KubeClient;
  /** The operator's own. */
  readonly namespace: string;
  /** What this operator serves, where it is not everything: others of the namespace have records of their own beside it. */
  readonly scope?: string | undefined;
  /** Of how many it keeps the record of which one: each has its own. */
  readonly shard: number;
  readonly shards: number;
  readonly clock: WallClock;
  readonly monotonic: Clock;
}

/** What was sent longer ago counts no more, and so does its record. */
const keptMs = 60_000;
/** Who serves other namespaces, and is there, writes its record more often, however idle. */
const goneMs = 4 * renewalMs;

/**
 * Keeps the record of what is sent in an annotation of a Lease, which nobody holds. Where the work was divided into another
 * number of shards before, what those have on record may be of any account: it counts for each shard.
 */
export class BudgetLease implements UseStore {
  readonly #options: BudgetLeaseOptions;
  readonly #annotation: string;
  readonly #base: string;
  /** Of another number of shards, or of other namespaces: since when they are as they are. */
  #others: ReadonlyMap<string, Seen> = new Map();
  #lease: Lease | undefined;

  constructor(options: BudgetLeaseOptions) {
    const { scope, shard, shards } = options;
    this.#options = options;
    this.#base = scope === undefined ? annotation : `${annotation}-${fingerprint(scope)}`;
    this.#annotation = shards === 1 ? this.#base : `${this.#base}.${shard}-of-${shards}`;
  }

  /** Of all shards one has: an object has 256 KiB of annotations, and while the work is divided anew there are two divisions. */
  get most(): number {
    return Math.floor(mostText / this.#options.shards);
  }

  async read(signal: AbortSignal): Promise<Stored> {
    const { client, namespace } = this.#options;
    this.#lease = await client.get<Lease>(leaseType, { namespace, name }, { signal });
    return this.#stored();
  }

  async write(text: string, signal: AbortSignal): Promise<Stored | undefined> {
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const { texts: before } = this.#stored();
      try {
        this.#lease = await this.#put(text, signal);
        return this.#stored();
      } catch (error) {
        const isGone = this.#lease !== undefined && isNotFound(error);
        if (!isConflict(error) && !isAlreadyExists(error) && !isGone) throw error;
      }
      // Who wrote another record of the Lease is no matter.
      if (!isDeepStrictEqual((await this.read(signal)).texts, before)) return undefined;
    }
    return undefined;
  }

  /** The API server made it at random, and tells it to who may read Leases where the operator is. */
  get secret(): string | undefined {
    return this.#lease?.metadata.uid;
  }

  /**
   * Without the right, or where it takes no more, after a minute; without the namespace, as on somebody's own machine, at once. A 404
   * that gives no reason is of something in front of the API server.
   */
  lastsMs(error: unknown): number | undefined {
    if (isNotFound(error)) return 0;
    if (!(error instanceof KubeError)) return undefined;
    const { status } = error;
    const isRefusal = status >= 400 && status < 500 && ![401, 408, 409, 429].includes(status);
    return isRefusal ? keptMs : undefined;
  }

  #put(text: string, signal: AbortSignal): Promise<Lease> {
    const { client, namespace, clock } = this.#options;
    const { resourceVersion } = this.#lease?.metadata ?? {};
    const metadata = { namespace, name, annotations: { ...this.#annotations(), [this.#annotation]: text } };
    // Changes with every write, so that the server dates each, and says when it was by our own clock.
    const lease = { apiVersion, kind, metadata, spec: { renewTime: microTime(clock.now()) } };
    if (resourceVersion === undefined) return client.create<Lease>(leaseType, lease, { signal });
    return client.update<Lease>(leaseType, { ...lease, metadata: { ...metadata, resourceVersion } }, { signal });
  }

  get #all(): readonly [key: string, text: string][] {
    return Object.entries(this.#lease?.metadata.annotations ?? {});
  }

  /** Without those of others that count no more. */
  #annotations(): Readonly<Record<string, string>> {
    const now = this.#options.monotonic.now();
    const isOver = (key: string) => {
      const seen = this.#others.get(key);
      return seen !== undefined && now - seen.since >= (this.#isForeign(key) ? goneMs : keptMs);
    };
    return Object.fromEntries(this.#all.filter(([key]) => !isOver(key)));
  }

  /** To be called with each Lease that is read or written. */
  #look(): void {
    const now = this.#options.monotonic.now();
    const seen = ([key, text]: [string, string]): [string, Seen] => {
      const before = this.#others.get(key);
      return [key, before?.text === text ? before : { text, since: now }];
    };
    const others = this.#all.filter(([key]) => this.#isOther(key) || this.#isForeign(key));
    this.#others = new Map(others.map(seen));
  }

  /** Of another number of shards. */
  #otherTexts(): readonly string[] {
    return this.#all.filter(([key]) => this.#isOther(key)).map(([, text]) => text);
  }

  /** Of the other shards. */
  #textsBeside(): readonly string[] {
    const isBeside = (key: string) => key !== this.#annotation && this.#shardsOf(key) === this.#options.shards;
    return this.#all.filter(([key]) => isBeside(key)).map(([, text]) => text);
  }

  #isOther(key: string): boolean {
    const shards = this.#shardsOf(key);
    return shards !== undefined && shards !== this.#options.shards;
  }

  /** Of an operator of other namespaces, or of one that this one was before its namespaces were changed. */
  #isForeign(key: string): boolean {
    return key.startsWith(annotation) && this.#shardsOf(key) === undefined;
  }

  /** Of how many shards it is the record of one; undefined of anything else. */
  #shardsOf(key: string): number | undefined {
    if (!key.startsWith(this.#base)) return undefined;
    const found = /^(?:\.\d+-of-(\d+))?$/.exec(key.slice(this.#base.length));
    return found === null ? undefined : Number(found[1] ?? 1);
  }

  #stored(): Stored {
    this.#look();
    const own = this.#lease?.metadata.annotations?.[this.#annotation];
    return {
      texts: [...(own === undefined ? [] : [own]), ...this.#otherTexts()],
      beside: this.#textsBeside(),
      writtenAt: writtenAt(this.#lease),
    };
  }
}

/** Dated by the API server, and by who wrote it. */
function writtenAt(lease: Lease | undefined): WrittenAt | undefined {
  const { managedFields = [] } = (lease?.metadata ?? {}) as Managed;
  const times = managedFields.map(({ time = '' }) => Date.parse(time)).filter((time) => !Number.isNaN(time));
  const writers = Date.parse(lease?.spec?.renewTime ?? '');
  return times.length === 0 || Number.isNaN(writers) ? undefined : { keepers: Math.max(...times), writers };
}

interface Seen {
  readonly text: string;
  /** On the monotonic clock. */
  readonly since: number;
}

interface Managed {
  readonly managedFields?: readonly { readonly time?: string }[];
}

function fingerprint(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 12);
}
