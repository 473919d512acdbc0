import type { Log } from '../../../common/log.ts';
import type { Runtime } from '../../../common/runtime.ts';
import { Reflector, type Sink } from '../../controller/reflector.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import { type KubeObject, keyOf, type ResourceType } from '../../kube/types.ts';

/** An object that somebody wants to know changes of. */
export interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  /** Its version is this one now, or there is none; called again and again for the same one. */
  changed(version: string | undefined): void;
}

/** What a watch is over: a cluster, a namespace of it, or one object. */
export interface Reach {
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly name?: string;
}

export interface ScopeOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  readonly client: KubeClient;
  readonly log: Log;
  readonly reach: Reach;
  /** By `namespace/name`. */
  readonly targetAt: (key: string) => Target | undefined;
  readonly targets: () => Iterable<Target>;
  /** It has begun, or ceased, to tell of changes. */
  readonly onLive: (live: boolean) => void;
  /** The operator may not watch this. */
  readonly onRefused: () => void;
}

/** One watch of metadata: what is in the objects does not come here, and nothing is kept of those that are no target. */
export class Scope {
  readonly #options: ScopeOptions;
  readonly #stop = new AbortController();
  #live = false;

  constructor(options: ScopeOptions) {
    const { client, reach, monotonic, random } = options;
    const { type, namespace, name } = reach;
    const fieldSelector = name === undefined ? undefined : `metadata.name=${name}`;
    this.#options = options;
    const reflector = new Reflector<KubeObject>({
      client,
      type,
      selection: { namespace, fieldSelector, metadataOnly: true },
      sink: this.#sink(),
      log: options.log.child({ referents: type.plural, ...(namespace === undefined ? {} : { namespace }) }),
      ...{ monotonic, random },
    });
    void reflector.run(this.#stop.signal);
  }

  /** Whatever of its targets changes is told. */
  get live(): boolean {
    return this.#live;
  }

  close(): void {
    this.#stop.abort();
  }

  #sink(): Sink<KubeObject> {
    const { targetAt, targets, onRefused } = this.#options;
    return {
      // No object is older than nothing: whatever a list says is believed.
      ask: () => 0n,
      slim: (object) => (targetAt(keyOf(object)) === undefined ? undefined : identityOf(object)),
      replace: (objects) => {
        const versions = new Map(objects.map((object) => [keyOf(object), object.metadata.resourceVersion]));
        for (const target of targets()) target.changed(versions.get(`${target.namespace}/${target.name}`));
        this.#become(true);
      },
      upsert: (object) => targetAt(keyOf(object))?.changed(object.metadata.resourceVersion),
      remove: (object) => targetAt(keyOf(object))?.changed(undefined),
      alive: () => this.#become(true),
      ended: () => this.#become(false),
      failed: (error) => {
        this.#become(false);
        const refused = isForbidden(error);
        if (refused) onRefused();
        return refused;
      },
    };
  }

  #become(live: boolean): void {
    if (live === this.#live || this.#stop.signal.aborted) return;
    this.#live = live;
    this.#options.onLive(live);
  }
}

function identityOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } as KubeObject['metadata'] };
}
