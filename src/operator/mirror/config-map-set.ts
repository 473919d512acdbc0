import type { Log } from '../../common/log.ts';
import type { Priority } from '../../common/priority.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Controller, type ReconcileResult } from '../controller/controller.ts';
import { type Change, Informer } from '../controller/informer.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists, isConflict, isNotFound, KubeError } from '../kube/errors.ts';
import { keyOf } from '../kube/types.ts';
import { type ConfigMap, configMapType, endpointConfigMap, mirrorLabels, selectorOf, summary } from './config-map.ts';
import { type ConfigMapAction, ConfigMapWriter, decide, ForeignConfigMapError } from './config-map-writer.ts';

export interface ConfigMapSetOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'random' | 'uuid'> {
  /** Key of the account, unique among the mirrors of the namespace. */
  readonly account: string;
  readonly reader: KubeClient;
  /** For writes, on the leader only. */
  readonly client: KubeClient;
  readonly namespace: string;
  readonly log: Log;
}

interface Mirrored {
  /** The smallest form to keep and to compare. */
  readonly json: string;
  /** Of its ConfigMap, once that has left the cache. */
  readonly uid: string | undefined;
}

const concurrentWrites = 8;

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
  readonly #desired = new Map<string, Mirrored>();
  /** ConfigMaps that are not known to be right, and what stood in the way last. */
  readonly #pending = new Map<string, Error | undefined>();
  #isComplete = false;

  constructor(options: ConfigMapSetOptions) {
    const { account, reader, client, namespace, clock, monotonic, random, uuid, log } = options;
    const identity = mirrorLabels(account);
    const selection = { namespace, labelSelector: selectorOf(identity) };
    const cached = { client: reader, type: configMapType, transform: summary, ...selection };
    this.#options = options;
    this.#log = log;
    this.#informer = new Informer({ ...cached, clock, random, log });
    this.#writer = new ConfigMapWriter({ cache: this.#informer, reader, client, identity });
    this.#queue = new WorkQueue({ monotonic, random });
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

  /** How many are still to be written or deleted. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Why one that is pending could not be written. */
  get error(): string | undefined {
    return this.#pending.values().find((error) => error !== undefined)?.message;
  }

  /** One endpoint, as JSON; answers whether it is new or has changed. */
  want(name: string, json: string): boolean {
    const key = this.#key(name);
    const known = this.#desired.get(key);
    if (known?.json === json) return false;
    this.#desired.set(key, { json, uid: known?.uid });
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
    const mirrored = this.#desired.get(key);
    if (type === 'delete' && mirrored !== undefined) {
      this.#desired.set(key, { ...mirrored, uid: object.metadata.uid });
    }
    if (initial || this.#actionFor(key) === 'none') return;
    this.#log.info('somebody else changed a ConfigMap; restoring it', { configMap: key, change: type });
    this.#enqueue(key, 'change');
  }

  #enqueue(key: string, priority: Priority): void {
    if (!this.#pending.has(key)) this.#pending.set(key, undefined);
    this.#queue.add(key, priority);
  }

  #actionFor(key: string): ConfigMapAction {
    return this.#isKnown(key) ? decide(this.#configMap(key), this.#informer.get(key)) : 'none';
  }

  /** Until all were named, a ConfigMap without an endpoint may have one that is yet to be named. */
  #isKnown(key: string): boolean {
    return this.#desired.has(key) || this.#isComplete;
  }

  #configMap(key: string): ConfigMap | undefined {
    const { account, namespace } = this.#options;
    const mirrored = this.#desired.get(key);
    return mirrored && endpointConfigMap(mirrored.json, account, namespace);
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    try {
      if (this.#isKnown(key)) await this.#write(key);
      this.#pending.delete(key);
      return { kind: 'done' };
    } catch (error) {
      if (this.#isBehind(key, error)) return { kind: 'again' };
      return this.#failed(key, error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #write(key: string): Promise<void> {
    const action = await this.#writer.bring(key, this.#configMap(key), this.#desired.get(key)?.uid);
    if (action !== 'none') this.#log.debug(`${action}d a ConfigMap`, { configMap: key });
  }

  /** Somebody else wrote or deleted it, and the cache is yet to hear of it. */
  #isBehind(key: string, error: unknown): boolean {
    const deleted = isNotFound(error) && this.#informer.get(key) !== undefined;
    return deleted || isConflict(error) || isAlreadyExists(error);
  }

  /** Of many that fail alike, one is worth a warning. */
  #failed(key: string, error: Error): ReconcileResult {
    const symptom = symptomOf(error);
    const isKnown = this.#pending.values().some((other) => other !== undefined && symptomOf(other) === symptom);
    const level = isKnown ? 'debug' : 'warn';
    this.#pending.set(key, error);
    this.#log[level]('writing a ConfigMap failed; will try again', { configMap: key, error: error.message });
    const atLeastMs = error instanceof KubeError ? error.retryAfterMs : undefined;
    return { kind: 'backoff', ...(atLeastMs === undefined ? {} : { atLeastMs }) };
  }
}

function symptomOf(error: Error): string {
  if (error instanceof ForeignConfigMapError) return error.message;
  return error instanceof KubeError ? `${error.status} ${error.reason}` : error.name;
}
