import type { Log } from '../../../common/log.ts';
import type { Runtime } from '../../../common/runtime.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import { type Reach, Scope, type Target } from './scope.ts';

export interface CoverageOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  readonly client: KubeClient;
  readonly log: Log;
  /** Whether a watch over all namespaces may be tried. */
  readonly clusterWide: boolean;
  /** Watches of namespaces and of single objects, in all; default 6. One for each type over the cluster comes on top. */
  readonly mostWatches?: number | undefined;
}

const defaultMostWatches = 6;
/** Of one type; of more there is one watch over the cluster, if the operator may. */
const mostNamespaces = 3;
/** Of one namespace; of more there is one watch over it, if the operator may: few objects need no right to any other. */
const mostSingles = 3;
/** What was refused is tried again after this long: rights may have been granted. */
const refusedMs = 600_000;
/** Between two looks at an object that no watch covers, where there are few of them. */
const lookMs = 2_000;
/** Between any two such looks. */
const leastLookMs = 50;
/** Between two looks at an object that the operator may not read. */
const deniedLookMs = 30_000;

/** Objects by namespace and name. */
type Targets = Map<string, Map<string, Target>>;

/**
 * Tells of changes of objects by few watches, however many the objects and wherever they are: one over the single object; of
 * more than three in a namespace one over that; where they lie in more than three namespaces one over the cluster. Where the
 * operator may not do the wider the narrower does. What is left beyond the bound on watches, or while a watch does not work,
 * is looked at in turn: every 2 s each, of more than 40 less often. Everything is of metadata only.
 */
export class Coverage {
  readonly #options: CoverageOptions;
  readonly #targets = new Map<string, Targets>();
  readonly #scopes = new Map<string, { readonly reach: Reach; readonly scope: Scope }>();
  readonly #refused = new Set<string>();
  readonly #uncovered = new Set<Target>();
  readonly #skipped = new Map<Target, number>();
  readonly #stop = new AbortController();
  #isLooking = false;

  constructor(options: CoverageOptions) {
    this.#options = options;
  }

  /** How many watches there are. */
  get watches(): number {
    return this.#scopes.size;
  }

  /** From now on; whoever adds it looks for itself how it is at first. One target for an object. */
  add(target: Target): void {
    const { type, namespace, name } = target;
    const ofType = this.#targets.get(type.plural) ?? new Map();
    this.#targets.set(type.plural, ofType);
    const ofNamespace = ofType.get(namespace) ?? new Map();
    ofType.set(namespace, ofNamespace.set(name, target));
    this.#arrange(target);
    this.#update(target);
  }

  remove(target: Target): void {
    const { type, namespace, name } = target;
    const ofType = this.#targets.get(type.plural);
    const ofNamespace = ofType?.get(namespace);
    ofNamespace?.delete(name);
    if (ofNamespace?.size === 0) ofType?.delete(namespace);
    if (ofType?.size === 0) this.#targets.delete(type.plural);
    this.#uncovered.delete(target);
    this.#skipped.delete(target);
    for (const reach of reachesOf(target)) {
      if (!this.#isWanted(reach) && this.#closeScope(idOf(reach))) this.#fill();
    }
  }

  close(): void {
    this.#stop.abort();
    for (const { scope } of this.#scopes.values()) scope.close();
  }

  /** Opens the watch that is to cover it, unless there is one, or no room. */
  #arrange(target: Target): void {
    const [cluster, namespace, single] = reachesOf(target);
    const namespaces = this.#targets.get(target.type.plural)?.size ?? 0;
    const objects = this.#targets.get(target.type.plural)?.get(target.namespace)?.size ?? 0;
    if (this.#isOpen(cluster) || this.#isOpen(namespace)) return;
    if (this.#options.clusterWide && namespaces > mostNamespaces && !this.#isRefused(cluster)) this.#open(cluster);
    else if (objects > mostSingles && !this.#isRefused(namespace)) this.#openIfRoom(namespace);
    else if (!this.#isRefused(single)) this.#openIfRoom(single);
  }

  #openIfRoom(reach: Reach): void {
    const { mostWatches = defaultMostWatches } = this.#options;
    const bounded = [...this.#scopes].filter(
      ([
        ,
        {
          reach: { namespace },
        },
      ]) => namespace !== undefined,
    );
    const [single] =
      bounded.find(
        ([
          ,
          {
            reach: { name },
          },
        ]) => name !== undefined,
      ) ?? [];
    const isFull = bounded.length >= mostWatches;
    // One over a namespace does for more than one over an object, which is looked at in turn from now on.
    if (isFull && reach.name === undefined && single !== undefined) this.#closeScope(single);
    else if (isFull) return;
    if (!this.#isOpen(reach)) this.#open(reach);
  }

  #open(reach: Reach): void {
    const { client, log, monotonic, random } = this.#options;
    const scope = new Scope({
      ...{ client, log, monotonic, random, reach },
      targetAt: (key) => this.#targetAt(reach, key),
      targets: () => this.#within(reach),
      onLive: (live) => this.#becameLive(reach, live),
      onRefused: () => this.#wasRefused(reach),
    });
    this.#scopes.set(idOf(reach), { reach, scope });
  }

  #becameLive(reach: Reach, live: boolean): void {
    if (live) this.#closeWithin(reach);
    for (const target of this.#within(reach)) this.#update(target);
  }

  #wasRefused(reach: Reach): void {
    const id = idOf(reach);
    this.#refused.add(id);
    this.#closeScope(id);
    for (const target of this.#within(reach)) this.#arrange(target);
    this.#fill();
    const { monotonic } = this.#options;
    const again = () => {
      this.#refused.delete(id);
      for (const target of this.#within(reach)) this.#arrange(target);
    };
    monotonic.sleep(refusedMs, this.#stop.signal).then(again, () => {});
  }

  /** A wider watch does for the narrower ones. */
  #closeWithin(wide: Reach): void {
    const inner = [...this.#scopes].filter(([, { reach }]) => isWithin(reach, wide));
    for (const [id] of inner) this.#closeScope(id);
    if (inner.length > 0) this.#fill();
  }

  #closeScope(id: string): boolean {
    const closed = this.#scopes.get(id);
    if (closed === undefined) return false;
    closed.scope.close();
    this.#scopes.delete(id);
    for (const target of this.#within(closed.reach)) this.#update(target);
    return true;
  }

  /** There may be room for what had none. */
  #fill(): void {
    for (const target of this.#uncovered) this.#arrange(target);
  }

  #update(target: Target): void {
    const covered = reachesOf(target).some((reach) => this.#scopes.get(idOf(reach))?.scope.live);
    if (covered) this.#uncovered.delete(target);
    else this.#uncovered.add(target);
    if (!covered && !this.#isLooking) void this.#look();
  }

  /** At one object after the other, until every one is covered. */
  async #look(): Promise<void> {
    const { monotonic } = this.#options;
    this.#isLooking = true;
    try {
      // Most are covered before this has passed.
      await monotonic.sleep(lookMs, this.#stop.signal);
      for (let [target] = this.#uncovered; target !== undefined; [target] = this.#uncovered) {
        this.#uncovered.delete(target);
        this.#uncovered.add(target);
        await this.#lookAt(target);
        await monotonic.sleep(this.#roundMs() / Math.max(1, this.#uncovered.size), this.#stop.signal);
      }
    } catch {
      // Closed.
    } finally {
      this.#isLooking = false;
    }
  }

  /** From one look at an object to the next. */
  #roundMs(): number {
    return Math.max(lookMs, leastLookMs * this.#uncovered.size);
  }

  async #lookAt(target: Target): Promise<void> {
    const { type, namespace, name } = target;
    const skip = this.#skipped.get(target) ?? 0;
    this.#skipped.delete(target);
    if (skip > 0) {
      this.#skipped.set(target, skip - 1);
      return;
    }
    const selection = { namespace, fieldSelector: `metadata.name=${name}`, metadataOnly: true };
    try {
      const { items } = await this.#options.client.list(type, { ...selection, signal: this.#stop.signal });
      if (this.#targetAt({ type }, `${namespace}/${name}`) === target)
        target.changed(items[0]?.metadata.resourceVersion);
    } catch (error) {
      if (isForbidden(error)) this.#skipped.set(target, Math.ceil(deniedLookMs / this.#roundMs()) - 1);
    }
  }

  #isWanted({ type, namespace, name }: Reach): boolean {
    const ofType = this.#targets.get(type.plural);
    if (namespace === undefined || ofType === undefined) return ofType !== undefined;
    return name === undefined ? ofType.has(namespace) : ofType.get(namespace)?.has(name) === true;
  }

  #isOpen(reach: Reach): boolean {
    return this.#scopes.has(idOf(reach));
  }

  #isRefused(reach: Reach): boolean {
    return this.#refused.has(idOf(reach));
  }

  #targetAt({ type }: Pick<Reach, 'type'>, key: string): Target | undefined {
    const [namespace = '', name = ''] = key.split('/');
    return this.#targets.get(type.plural)?.get(namespace)?.get(name);
  }

  /** As they are now: they may be removed meanwhile. */
  #within({ type, namespace, name }: Reach): readonly Target[] {
    const ofType = this.#targets.get(type.plural);
    if (namespace === undefined) return [...(ofType?.values() ?? [])].flatMap((targets) => [...targets.values()]);
    const targets = ofType?.get(namespace);
    if (name === undefined) return [...(targets?.values() ?? [])];
    const target = targets?.get(name);
    return target === undefined ? [] : [target];
  }
}

/** From the widest. */
function reachesOf({ type, namespace, name }: Target): readonly [Reach, Reach, Reach] {
  return [{ type }, { type, namespace }, { type, namespace, name }];
}

/** Not the same one. */
function isWithin(inner: Reach, { type, namespace, name }: Reach): boolean {
  if (inner.type.plural !== type.plural || name !== undefined) return false;
  return namespace === undefined
    ? inner.namespace !== undefined
    : inner.namespace === namespace && inner.name !== undefined;
}

function idOf({ type, namespace, name }: Reach): string {
  return [type.plural, namespace, name].filter((part) => part !== undefined).join('/');
}
