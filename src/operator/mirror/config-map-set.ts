import { isUsableID } from '../../common/cloud-id.ts';
import type { Log } from '../../common/log.ts';
import type { Priority } from '../../common/priority.ts';
import { promisedMs, Restorations } from '../../common/restorations.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Controller, type ReconcileResult } from '../controller/controller.ts';
import { type Change, Informer } from '../controller/informer.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists, isConflict, isDenied, isNotFound, KubeError } from '../kube/errors.ts';
import type { InstallationNames } from '../kube/installation-name.ts';
import { keyOf, type OwnerReference } from '../kube/types.ts';
import {
  type ConfigMap,
  configMapType,
  endpointConfigMap,
  endpointName,
  type Maker,
  mirrorLabels,
  originOf,
  selectorOf,
  summary,
} from './config-map.ts';
import { ConfigMapWriter, ForeignConfigMapError } from './config-map-writer.ts';
import { type Intent, Refusals } from './refusals.ts';

export interface ConfigMapSetOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'random' | 'uuid'> {
  /** Key of the account, unique in the operator. */
  readonly account: string;
  /** What the operator's installation is known by, among those that mirror into the namespace; default nothing. */
  readonly installation?: InstallationNames | undefined;
  /** What other installations made for the account is taken over where it is desired; default false. */
  readonly takeOver?: boolean;
  readonly reader: KubeClient;
  /** For writes, on the leader only. */
  readonly client: KubeClient;
  readonly namespace: string;
  /** Of the same namespace; default none. */
  readonly owner?: OwnerReference;
  readonly log: Log;
}

/** Want of a right to them, or one that is not the mirror's. */
export type ConfigMapTrouble = 'no right' | 'in the way';

/** Somebody else changes it again and again. */
class ContestedConfigMapError extends Error {
  override readonly name = 'ContestedConfigMapError';

  constructor(key: string) {
    super(`somebody else changes ConfigMap ${key} again and again, and so it is restored less often: stop that`);
  }
}

const unnamed = { name: '', plain: '' };
const concurrentWrites = 8;
/** Of one alone, as while the API server is away. */
const backoff = { minMs: 1_000, maxMs: 30_000 };
const mostDeleted = 10_000;
/** Whoever makes one again so often has a use for it. */
const mostTimesDeleted = 3;

/**
 * The ConfigMaps of one mirror, kept as they should be: what somebody edits or deletes is restored from memory, and only
 * what differs is written. None is deleted before `complete` was called.
 */
export class ConfigMapSet {
  readonly #options: ConfigMapSetOptions;
  readonly #log: Log;
  readonly #informer: Informer<ConfigMap>;
  readonly #writer: ConfigMapWriter;
  readonly #queue: WorkQueue;
  readonly #controller: Controller;
  /** The smallest form to keep and to compare, by key. */
  readonly #desired = new Map<string, string>();
  /** How often each was deleted as no endpoint's, until it is one's again. */
  readonly #deleted = new Map<string, number>();
  readonly #restorations: Restorations;
  readonly #refusals: Refusals;
  readonly #maker: Maker;
  /** ConfigMaps that are not known to be right, and what stood in the way last. */
  readonly #pending = new Map<string, Error | undefined>();
  #isComplete = false;

  constructor(options: ConfigMapSetOptions) {
    const { account, installation = unnamed, takeOver = false, reader, client, namespace, owner, log } = options;
    const { monotonic, random, uuid } = options;
    this.#maker = { installation, account, owner };
    const selection = { namespace, labelSelector: selectorOf(mirrorLabels(account)) };
    const cached = { client: reader, type: configMapType, transform: summary, ...selection };
    this.#options = options;
    this.#log = log;
    this.#informer = new Informer({ ...cached, monotonic, random, log });
    this.#writer = new ConfigMapWriter({ cache: this.#informer, reader, client, maker: this.#maker, takeOver });
    this.#restorations = new Restorations({ monotonic, random });
    this.#queue = new WorkQueue({ monotonic, random, backoff });
    const enqueue = (key: string, ms: number) => this.#enqueue(key, 'first', ms);
    this.#refusals = new Refusals({ monotonic, random, enqueue });
    this.#controller = new Controller({
      name: 'endpointmirror',
      queue: this.#queue,
      concurrency: concurrentWrites,
      reconcile: ({ key }) => this.#reconcile(key),
      ...{ monotonic, random, uuid, log },
    });
    this.#informer.onChange((change) => this.#changed(change));
  }

  /** Follows the ConfigMaps and writes until the signal aborts, and `meanwhile` from when they are known. Never rejects. */
  async run(signal: AbortSignal, meanwhile: () => Promise<void>): Promise<void> {
    const watching = new AbortController();
    const watched = this.#informer.run(watching.signal);
    await this.#informer.whenSynced(signal).catch(() => {});
    await Promise.all([meanwhile(), this.#controller.run(signal)]);
    this.#queue.close();
    watching.abort();
    await watched;
  }

  /** How many endpoints have theirs, or are about to; not those that could not be written. */
  get size(): number {
    return this.#desired
      .keys()
      .filter((key) => this.#pending.get(key) === undefined)
      .toArray().length;
  }

  /** How many there are. */
  get present(): number {
    return this.#informer.list().length;
  }

  /** Of some endpoints that have one. */
  async someIDs(count: number, signal: AbortSignal): Promise<readonly string[]> {
    const own = this.#informer.list().filter((configMap) => originOf(configMap, this.#maker) === 'ours');
    const read = own
      .slice(0, count)
      .map(({ metadata }) => this.#options.reader.get<ConfigMap>(configMapType, metadata, { signal }));
    // Whoever edits one names what he likes.
    return (await Promise.all(read)).flatMap((configMap) => {
      const id = configMap?.data?.id ?? '';
      return isUsableID(id) && endpointName(id) === configMap?.metadata.name ? id : [];
    });
  }

  /** How many are still to be written or deleted. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Why they are not followed, or one that is pending could not be written. */
  get error(): string | undefined {
    const { namespace } = this.#options;
    if (this.#informer.refused) return `the operator may not list and watch the ConfigMaps of namespace ${namespace}`;
    return this.#stuck?.message;
  }

  /** What only a person ends of that. */
  get cause(): ConfigMapTrouble | undefined {
    if (this.#informer.refused || isDenied(this.#stuck)) return 'no right';
    return this.#stuck instanceof ForeignConfigMapError ? 'in the way' : undefined;
  }

  get #stuck(): Error | undefined {
    return this.#pending.values().find((error) => error !== undefined);
  }

  /** One endpoint, as JSON; answers whether it is new or has changed. */
  want(name: string, json: string): boolean {
    const key = this.#key(name);
    if (this.#desired.get(key) === json) return false;
    this.#desired.set(key, json);
    this.#deleted.delete(key);
    this.#enqueue(key, 'first');
    return true;
  }

  /** These are all: the others go, those that an earlier process left too. Answers how many go. */
  complete(names: ReadonlySet<string>): number {
    this.#isComplete = true;
    const kept = new Set([...names].map((name) => this.#key(name)));
    const dropped = [...this.#desired.keys()].filter((key) => !kept.has(key));
    for (const key of dropped) this.#desired.delete(key);
    const known = this.#informer.list().map(keyOf);
    const leftover = known.filter((key) => !kept.has(key) && this.#actionFor(key) === 'delete');
    const going = new Set([...dropped, ...leftover]);
    for (const key of going) this.#enqueue(key, 'first');
    return going.size;
  }

  #key(name: string): string {
    return `${this.#options.namespace}/${name}`;
  }

  /** The first look at a ConfigMap, or somebody else's change. */
  #changed({ type, object, initial }: Change<ConfigMap>): void {
    const key = keyOf(object);
    // One that only lost its labels is known again when it is found to be there.
    if (type === 'delete' && !this.#desired.has(key)) {
      this.#writer.forget(key);
      this.#restorations.forget(key);
    }
    const action = this.#actionFor(key);
    if (initial || action === 'none') return;
    // What another took over is in the way from now on, which is to be said.
    if (action === 'foreign') this.#enqueue(key, 'change');
    else this.#restore(key, type);
  }

  #restore(key: string, change: string): void {
    // Its time is set, and whatever becomes of it by then is restored at once.
    if (this.#pending.get(key) instanceof ContestedConfigMapError) return;
    const ms = this.#restorations.next(key);
    if (ms < promisedMs) {
      this.#log.info('somebody else changed a ConfigMap; restoring it', { configMap: key, change });
      this.#enqueue(key, 'change', ms);
      return;
    }
    const error = new ContestedConfigMapError(key);
    this.#log.warn(error.message, { configMap: key, change, delayMs: Math.round(ms) });
    this.#enqueue(key, 'change', ms);
    this.#pending.set(key, error);
  }

  #enqueue(key: string, priority: Priority, ms = 0): void {
    if (!this.#pending.has(key)) this.#pending.set(key, undefined);
    this.#queue.addAfter(key, ms, priority);
  }

  #actionFor(key: string): Intent {
    const action = this.#writer.decide(this.#configMap(key), this.#informer.get(key));
    // Somebody who has a saved copy makes it once; another operator of the same name would for ever.
    const isContested = !this.#desired.has(key) && (this.#deleted.get(key) ?? 0) >= mostTimesDeleted;
    return this.#isKnown(key) && !(action === 'delete' && isContested) ? action : 'none';
  }

  /** Until all were named, a ConfigMap without an endpoint may have one that is yet to be named. */
  #isKnown(key: string): boolean {
    return this.#desired.has(key) || this.#isComplete;
  }

  #configMap(key: string): ConfigMap | undefined {
    const json = this.#desired.get(key);
    return json === undefined ? undefined : endpointConfigMap(json, this.#maker, this.#options.namespace);
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const intent = this.#actionFor(key);
    if (!this.#refusals.mayTry(key, intent)) return { kind: 'done' };
    try {
      if (this.#isKnown(key)) await this.#write(key);
      this.#refusals.through(key);
      this.#pending.delete(key);
      return { kind: 'done' };
    } catch (error) {
      if (this.#isBehind(key, error)) return { kind: 'again' };
      return this.#failed(key, intent, error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #write(key: string): Promise<void> {
    const action = await this.#writer.bring(key, this.#configMap(key));
    if (action === 'delete' && !this.#desired.has(key)) this.#noteDeleted(key);
    if (action !== 'none') this.#log.debug(`${action}d a ConfigMap`, { configMap: key });
  }

  /** Ids of endpoints never come back: the oldest are of no use. */
  #noteDeleted(key: string): void {
    const times = (this.#deleted.get(key) ?? 0) + 1;
    this.#deleted.delete(key);
    this.#deleted.set(key, times);
    const [oldest] = this.#deleted.keys();
    if (this.#deleted.size > mostDeleted && oldest !== undefined) this.#deleted.delete(oldest);
  }

  /** Somebody else wrote or deleted it, and the cache is yet to hear of it. */
  #isBehind(key: string, error: unknown): boolean {
    const deleted = isNotFound(error) && this.#informer.get(key) !== undefined;
    return deleted || isConflict(error) || isAlreadyExists(error);
  }

  /** Of many that fail alike, one is worth a warning. */
  #failed(key: string, intent: Intent, error: Error): ReconcileResult {
    const symptom = symptomOf(error);
    const isKnown = this.#pending.values().some((other) => other !== undefined && symptomOf(other) === symptom);
    const level = isKnown ? 'debug' : 'warn';
    this.#pending.set(key, error);
    this.#log[level]('writing a ConfigMap failed; will try again', { configMap: key, error: error.message });
    if (this.#refusals.failed(key, intent, error)) return { kind: 'done' };
    const atLeastMs = error instanceof KubeError ? error.retryAfterMs : undefined;
    return { kind: 'backoff', ...(atLeastMs === undefined ? {} : { atLeastMs }) };
  }
}

function symptomOf(error: Error): string {
  if (error instanceof ForeignConfigMapError) return error.message;
  return error instanceof KubeError ? `${error.status} ${error.reason}` : error.name;
}
