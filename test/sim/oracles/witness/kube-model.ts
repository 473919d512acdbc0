import type { Change } from '../../../../src/reference/kube-api/store/history.ts';
import type { Flight } from '../../core/network.ts';
import { canonical, type Fields, fieldsOf, textOf } from './json.ts';
import { isKind, type Kind, Resource, type Status, statusOf, type Version, versionOf } from './resource.ts';
import { Timeline } from './timeline.ts';
import { perWorld, type Witness } from './witness.ts';

/** The data of a Secret or ConfigMap; undefined while there is none. */
export type Data = Readonly<Record<string, string>> | undefined;

/** One state of a Lease. */
export interface Tenure {
  readonly at: number;
  readonly holder: string;
  /** As its holder dated it. */
  readonly renewed: string;
  readonly durationMs: number;
}

/** One write to Kubernetes, once it is known who wrote. */
export interface KubeWrite {
  readonly at: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly deleted: boolean;
  /** JSON. */
  readonly text: string;
  /** The process; undefined: a person, or Kubernetes itself. */
  readonly by: string | undefined;
  /** What the clock of the process said. */
  readonly clockMs: number | undefined;
  readonly resource: Resource | undefined;
}

/** A write of this virtual moment. */
interface Fresh {
  readonly change: Change;
  readonly version?: Version;
  readonly status?: Status;
  by: string | undefined;
  clockMs: number | undefined;
}

/** Of those that are not judged any more this many are kept. */
const goneLimit = 5_000;

/** All that people and operators ever said in Kubernetes, as far as it concerns the operator. */
export class KubeModel {
  /** By uid, those that are gone too. */
  readonly resources = new Map<string, Resource>();
  /** By `KIND NAMESPACE/NAME`. */
  readonly live = new Map<string, Resource>();
  readonly #ofKind = new Map<Kind, Set<Resource>>();
  /** Told of every write, in order, at the virtual moment at which it was made. */
  readonly writes = new Set<(write: KubeWrite) => void>();
  readonly #world: Witness;
  /** Whoever wrote something, by name. */
  readonly #writers = new Map<string, Flight['from']>();
  readonly #data = new Map<string, Timeline<Data>>();
  readonly #leases = new Map<string, Timeline<Tenure>>();
  /** Oldest first. */
  #fresh: Fresh[] = [];
  #gone = 0;

  constructor(world: Witness) {
    this.#world = world;
    this.#readAll();
    world.kube.store.subscribe(
      (change) => this.#see(change),
      () => world.scheduler.after(0, () => this.#readAll()),
    );
    world.network.observers.add((flight) => this.#seeWriter(flight));
  }

  /** The values that a key of a Secret or ConfigMap had at some moment of that time; undefined: it had none. */
  valuesOf(kind: string, namespace: string, name: string, key: string, from: number, to: number) {
    const all = this.#data.get(`${kind} ${namespace}/${name}`)?.during(from, to) ?? [undefined];
    return [...new Set(all.map((data) => data?.[key]))];
  }

  /** The last value but an empty one that a key ever had up to then, even if it is gone. */
  lastValueOf(kind: string, namespace: string, name: string, key: string, to: number): string | undefined {
    const values = this.#data
      .get(`${kind} ${namespace}/${name}`)
      ?.during(0, to)
      .map((data) => data?.[key]);
    return values?.findLast((value) => value !== undefined && value.trim() !== '');
  }

  /** When a Secret or ConfigMap of the namespace changed last; -Infinity where there never was one. */
  dataChangedAt(namespace: string): number {
    const all = [...this.#data].filter(([key]) => key.includes(` ${namespace}/`));
    return Math.max(Number.NEGATIVE_INFINITY, ...all.map(([, timeline]) => timeline.lastAt ?? 0));
  }

  /** How often Secrets and ConfigMaps of a namespace changed in that time. */
  changesOfData(namespace: string, from: number, to: number): number {
    return [...this.#data]
      .filter(([key]) => key.includes(` ${namespace}/`))
      .reduce((sum, [, timeline]) => sum + timeline.during(from, to).length, 0);
  }

  /** How far the wall clock of a process that wrote something is off, or was when it died. */
  skewOf(process: string): number {
    return this.#writers.get(process)?.skewMs ?? 0;
  }

  /** Lately: as far back as requests can be delayed. */
  get leases(): ReadonlyMap<string, Timeline<Tenure>> {
    return this.#leases;
  }

  /** Those that are gone too, in the order of their creation. */
  ofKind(kind: Kind): ReadonlySet<Resource> {
    return this.#ofKind.get(kind) ?? new Set();
  }

  get(kind: string, namespace: string, name: string): Resource | undefined {
    return this.live.get(`${kind} ${namespace}/${name}`);
  }

  #see(change: Change): void {
    const { type, current } = change;
    const now = this.#world.scheduler.now;
    const { object } = current;
    const deleted = type === 'DELETED';
    const news = isKind(object.kind) ? this.#seeResource(object, deleted, now) : {};
    if (object.kind === 'Lease') this.#seeLease(object, deleted, now);
    this.#seeData(object, deleted, now);
    this.#fresh.push({ change, by: undefined, clockMs: undefined, ...news });
    if (this.#fresh.length === 1) this.#world.scheduler.after(0, () => this.#tell(now));
  }

  #seeResource(object: Fields, deleted: boolean, now: number): Pick<Fresh, 'version' | 'status'> {
    const resource = this.#resourceOf(object, now);
    if (deleted) {
      this.#end(resource, now);
      return {};
    }
    this.live.set(resource.key, resource);
    const [version, status] = [versionOf(object, now), statusOf(object, now)];
    const isNewVersion = !sameVersion(resource.versions.last, version);
    const isNewStatus = !sameStatus(resource.status, status);
    if (isNewVersion) resource.versions.add(now, version);
    if (isNewStatus) resource.statuses.add(now, status);
    return { ...(isNewVersion ? { version } : {}), ...(isNewStatus ? { status } : {}) };
  }

  #resourceOf(object: Fields, now: number): Resource {
    const metadata = fieldsOf(object.metadata);
    const uid = textOf(metadata.uid) ?? '';
    const known = this.resources.get(uid);
    if (known !== undefined) return known;
    const kind = String(object.kind);
    if (!isKind(kind)) throw new Error(`${kind} is no kind of ours`);
    const fresh = new Resource(kind, metadata, now);
    this.resources.set(uid, fresh);
    this.#ofKind.set(kind, (this.#ofKind.get(kind) ?? new Set()).add(fresh));
    return fresh;
  }

  #end(resource: Resource, now: number): void {
    resource.goneAt = now;
    if (this.live.get(resource.key) === resource) this.live.delete(resource.key);
    this.#gone += 1;
    if (this.#gone <= goneLimit) return;
    const oldest = [...this.resources.values()].find(({ lives }) => !lives);
    if (oldest === undefined) return;
    this.resources.delete(oldest.uid);
    this.#ofKind.get(oldest.kind)?.delete(oldest);
    this.#gone -= 1;
  }

  #seeData(object: Fields, deleted: boolean, now: number): void {
    const { kind } = object;
    if (kind !== 'Secret' && kind !== 'ConfigMap') return;
    const key = keyOf(object);
    const timeline = this.#data.get(key) ?? new Timeline<Data>(50);
    this.#data.set(key, timeline);
    const data = deleted ? undefined : dataOf(object);
    if (timeline.lastAt === undefined || canonical(timeline.last) !== canonical(data)) timeline.add(now, data);
  }

  #seeLease(object: Fields, deleted: boolean, now: number): void {
    const key = keyOf(object);
    const timeline = this.#leases.get(key) ?? new Timeline<Tenure>(256);
    this.#leases.set(key, timeline);
    const { holderIdentity, leaseDurationSeconds, renewTime } = fieldsOf(object.spec);
    const holder = deleted ? '' : (textOf(holderIdentity) ?? '');
    const renewed = textOf(renewTime) ?? '';
    // Who asks for it renews nothing.
    if (timeline.last?.holder === holder && timeline.last.renewed === renewed) return;
    timeline.add(now, { at: now, holder, renewed, durationMs: Number(leaseDurationSeconds ?? 0) * 1_000 });
  }

  /** The answer to a write carries the revision that it was given. */
  #seeWriter({ to, method, answer, from }: Flight): void {
    if (to.name !== 'kube' || method === 'GET' || answer === undefined || this.#fresh.length === 0) return;
    if (answer.status >= 300) return;
    const revision = Number(/"resourceVersion":"(\d+)"/.exec(answer.body)?.[1]);
    const fresh = this.#fresh.find(({ change }) => change.revision === revision) ?? this.#deletion(answer.body);
    if (fresh === undefined) return;
    fresh.by = from.name;
    this.#writers.set(from.name, from);
    fresh.clockMs = from.clock.now();
    if (fresh.version !== undefined) fresh.version.by = from.name;
    if (fresh.status !== undefined) fresh.status.by = from.name;
    const { type, current } = fresh.change;
    const resource = type === 'DELETED' ? this.resources.get(current.object.metadata.uid ?? '') : undefined;
    if (resource !== undefined) resource.goneBy = from.name;
  }

  /** A delete that took effect at once is answered by a Status that names the uid. */
  #deletion(body: string): Fresh | undefined {
    const uid = /"uid":"([^"]+)"/.exec(body)?.[1];
    if (uid === undefined) return undefined;
    return this.#fresh.find(
      ({ change: { type, current } }) => type === 'DELETED' && current.object.metadata.uid === uid,
    );
  }

  #tell(at: number): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    if (this.writes.size === 0) return;
    for (const { change, by, clockMs } of fresh) {
      const { type, current } = change;
      const { kind, metadata } = current.object;
      const { uid = '', namespace = '', name = '' } = metadata;
      const resource = this.resources.get(uid);
      const write = {
        at,
        kind,
        namespace,
        name,
        deleted: type === 'DELETED',
        text: current.text,
        by,
        clockMs,
        resource,
      };
      for (const listen of this.writes) listen(write);
    }
  }

  /** What Kubernetes has now, whatever it said before: at the beginning, and after it was restored from a backup. */
  #readAll(): void {
    const now = this.#world.scheduler.now;
    const left = new Set(this.live.values());
    const data = new Set<string>();
    for (const [, { object }] of this.#world.kube.snapshot().objects) {
      if (!isKind(object.kind)) {
        this.#seeData(object, false, now);
        data.add(keyOf(object));
        continue;
      }
      const resource = this.#resourceOf(object, now);
      resource.goneAt = undefined;
      left.delete(resource);
      this.#seeResource(object, false, now);
    }
    for (const [key, timeline] of this.#data) {
      if (!data.has(key) && timeline.last !== undefined) timeline.add(now, undefined);
    }
    for (const resource of left) {
      resource.lostByRestore = true;
      this.#end(resource, now);
    }
  }
}

export const kubeModelOf = perWorld((world) => new KubeModel(world));

function keyOf(object: Fields): string {
  const { namespace, name } = fieldsOf(object.metadata);
  return `${String(object.kind)} ${String(namespace ?? '')}/${String(name)}`;
}

function sameVersion(a: Version | undefined, b: Version): boolean {
  if (a === undefined) return false;
  if (a.generation !== b.generation || a.deleting !== b.deleting) return false;
  const facts = ({ annotations, labels, finalizers }: Version) => canonical([annotations, labels, finalizers]);
  return facts(a) === facts(b);
}

function sameStatus(a: Status | undefined, b: Status): boolean {
  const facts = ({ fields, observedGeneration, conditions }: Status) =>
    canonical([fields, observedGeneration, conditions]);
  return a !== undefined && facts(a) === facts(b);
}

function dataOf(object: Fields): Data {
  const data = fieldsOf(object.data) as Readonly<Record<string, string>>;
  if (object.kind === 'ConfigMap') return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString('utf8')]),
  );
}
