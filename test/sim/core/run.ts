import { mergePatch } from '../../../src/reference/kube-api/writes/patch.ts';
import type { Answer } from './server.ts';
import { Stillness } from './stillness.ts';
import type { Deed, Manifest, ObjectRef, Story } from './story.ts';
import { defaultCalmMs, defaultSettleMs, endOf, mainKey } from './story.ts';
import { originOf } from './surroundings.ts';
import { World, type WorldOptions } from './world.ts';

/** A promise that was broken. */
export interface Violation {
  readonly oracle: string;
  /** Virtual milliseconds. */
  readonly at: number;
  /** What was seen, with the names of what it is about. */
  readonly message: string;
}

/** Watches a world from outside, and says what is wrong. */
export interface Judge {
  /** Asked when all has had the time to come to rest. */
  atRest?(): Promise<void> | void;
  /** Asked after the calm that follows. */
  atEnd?(): Promise<void> | void;
}

export type Report = (oracle: string, message: string) => void;

/** Makes a judge for a world that has just been created. */
export type Oracle = (world: World, report: Report) => Judge;

/** Begins a trouble; returns the function that ends it. */
export type Trouble = (world: World, options: Readonly<Record<string, unknown>>, forMs: number) => () => void;

export interface RunOptions extends Pick<WorldOptions, 'print' | 'hashed' | 'seeds'> {
  readonly oracles: readonly Oracle[];
  readonly troubles: Readonly<Record<string, Trouble>>;
  /** Told of the world before anything happens. */
  readonly onWorld?: (world: World) => void;
  /** Ends as soon as something is wrong. */
  readonly stopAtFirst?: boolean;
  /**
   * Default 60,000, three times what five processes need that watch five namespaces and are restarted every three seconds: beyond
   * that something goes round in circles, and the rest of the story tells nothing.
   */
  readonly mostRequests?: number;
}

export interface Outcome {
  readonly hash: string;
  readonly violations: readonly Violation[];
  readonly virtualMs: number;
  readonly realMs: number;
  readonly traceLines: number;
}

/** Tells a story from its beginning to its end, and what was wrong on the way. */
export async function run(story: Story, options: RunOptions): Promise<Outcome> {
  const started = performance.now();
  const world = await World.create({ ...options, story });
  try {
    options.onWorld?.(world);
    const violations = await tell(world, options);
    const { scheduler, trace } = world;
    return {
      hash: trace.hash(),
      violations,
      virtualMs: scheduler.now,
      realMs: performance.now() - started,
      traceLines: trace.length,
    };
  } finally {
    await world.close();
  }
}

/** Leases of three replicas, agents that are asked every few seconds, watches: what goes on though nothing happens. */
const requestsPerHour = 15_000;
const hourMs = 3_600_000;

/** Each has a Lease. */
function shardsOf({ beginnings }: World): number {
  return Math.max(1, ...beginnings.map(({ settings }) => Number(settings.shards ?? 1)));
}

async function tell(world: World, options: RunOptions) {
  const { oracles, troubles, stopAtFirst = false, mostRequests = 60_000 } = options;
  const { story, scheduler, trace } = world;
  const violations: Violation[] = [];
  const report: Report = (oracle, message) => {
    if (violations.some((known) => known.oracle === oracle && known.message === message)) return;
    violations.push({ oracle, at: scheduler.now, message });
    trace.add('VIOLATION', `${oracle}: ${message}`);
  };
  const enough = () => (stopAtFirst && violations.length > 0) || isEndless();
  const isEndless = () => {
    const beyond = world.network.sent - mostRequests;
    if (beyond <= 0 || beyond <= requestsPerHour * shardsOf(world) * (scheduler.now / hourMs)) return false;
    report('endless', `more than ${mostRequests} requests, and no end of it`);
    return true;
  };
  const judges = oracles.map((oracle) => oracle(world, report));
  const stillness = new Stillness(world);
  const actor = new Actor(world, troubles);
  await actor.prepare();
  for (const act of story.acts.toSorted((a, b) => a.at - b.at)) {
    await scheduler.run(act.at, enough);
    if (enough()) return violations;
    await actor.do(act);
  }
  await scheduler.run(endOf(story), enough);
  if (enough()) return violations;
  actor.endTroubles();
  stillness.stir();
  const { settleMs = defaultSettleMs, stillMs } = story;
  await scheduler.run(endOf(story) + settleMs, () => enough() || stillness.lasts(stillMs));
  if (enough()) return violations;
  trace.add('world', 'is judged at rest');
  for (const judge of judges) await judge.atRest?.();
  await scheduler.run(scheduler.now + (story.calmMs ?? defaultCalmMs), enough);
  if (enough()) return violations;
  trace.add('world', 'is judged at its end');
  for (const judge of judges) await judge.atEnd?.();
  return violations;
}

/** Does what a story says. */
class Actor {
  readonly #world: World;
  readonly #troubles: Readonly<Record<string, Trouble>>;
  readonly #foreign = new Map<string, string>();
  /** By kind, namespace and name: also of those that are gone. */
  readonly #ids = new Map<string, string>();
  readonly #firstIds = new Map<string, string>();
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, { readonly at: number; readonly annotations: Annotations }[]>();
  readonly #open = new Set<() => void>();

  constructor(world: World, troubles: Readonly<Record<string, Trouble>>) {
    this.#world = world;
    this.#troubles = troubles;
    world.onChange(({ current: { object } }) => {
      const key = keyOf(object.kind ?? '', object.metadata);
      this.#uids.set(key, object.metadata.uid ?? '');
      const versions = this.#versions.get(key) ?? [];
      versions.push({ at: world.scheduler.now, annotations: object.metadata.annotations ?? {} });
      this.#versions.set(key, versions);
      const id = (object.status as { readonly id?: unknown } | undefined)?.id;
      if (typeof id !== 'string') return;
      this.#ids.set(key, id);
      if (!this.#firstIds.has(key)) this.#firstIds.set(key, id);
    });
  }

  async prepare(): Promise<void> {
    for (const { namespace } of this.#world.installations.values())
      await this.#kube('POST', '/api/v1/namespaces', named('v1', 'Namespace', namespace));
  }

  async do(deed: Deed): Promise<void> {
    const times = 'times' in deed ? deed.times : undefined;
    if (times === undefined) return this.#once(deed);
    const text = JSON.stringify(deed);
    for (let n = 0; n < times; n += 1) await this.#once(JSON.parse(text.replaceAll('{{n}}', String(n))));
  }

  async #once(deed: Deed): Promise<void> {
    const { installations, scheduler, network } = this.#world;
    const installation = 'installation' in deed ? installations.get(deed.installation) : undefined;
    if ('installation' in deed && installation === undefined) throw new Error(`no installation ${deed.installation}`);
    switch (deed.do) {
      case 'apply':
        return this.#apply(this.#resolved(deed.object));
      case 'replace':
        return this.#replace(this.#resolved(deed.object));
      case 'copy':
        return this.#copy(this.#resolved(deed));
      case 'patch': {
        const path = `${pathOf(deed.ref)}${deed.subresource === undefined ? '' : `/${deed.subresource}`}`;
        return void (await this.#kube('PATCH', path, this.#resolved(deed.patch), 'application/merge-patch+json'));
      }
      case 'set-back':
        return this.#setBack(deed);
      case 'delete':
        return void (await this.#kube('DELETE', pathOf(deed.ref)));
      case 'cloud': {
        const { service = 'cloud', key = mainKey, method, body } = deed;
        const path = this.#resolvedText(deed.path);
        const request = { key, method, path, ...(body === undefined ? {} : { body: this.#resolved(body) }) };
        const answer = await this.#world.askCloud(service, request);
        const id = idIn(answer);
        if (deed.name !== undefined && id !== undefined) this.#foreign.set(deed.name, id);
        return;
      }
      case 'restart-agent': {
        this.#world.trace.add(deed.agent, 'starts anew');
        return this.#world.agents.at(originOf(deed.agent)).restart();
      }
      case 'capture': {
        const id = this.#world.agents.at(originOf(deed.agent)).plant({ tunnel: deed.tunnel });
        if (deed.name !== undefined) this.#foreign.set(deed.name, id);
        return;
      }
      case 'start':
        return installation?.start(deed);
      case 'stop':
        return installation?.stop();
      case 'kill':
        return installation?.kill(deed.replica);
      case 'freeze':
        return installation?.freeze(deed.replica ?? 0, deed.forMs);
      case 'trouble': {
        const trouble = this.#troubles[deed.name];
        if (trouble === undefined) throw new Error(`there is no trouble named ${deed.name}`);
        this.#world.trace.add('trouble', `${deed.name} begins ${JSON.stringify(deed.with ?? {})}`);
        const end = trouble(this.#world, deed.with ?? {}, deed.forMs);
        const over = () => {
          if (!this.#open.delete(over)) return;
          this.#world.trace.add('trouble', `${deed.name} ends`);
          end();
        };
        this.#open.add(over);
        scheduler.after(deed.forMs, over);
        void network;
      }
    }
  }

  endTroubles(): void {
    for (const over of [...this.#open]) over();
  }

  async #apply(object: Manifest): Promise<void> {
    await this.#namespaceOf(object);
    const ref = refOf(object);
    const found = await this.#kube('GET', pathOf(ref));
    if (found.status === 404) return void (await this.#kube('POST', collectionOf(ref), object));
    const { metadata, ...content } = object;
    const patch = [
      ...Object.entries(content)
        .filter(([field]) => !['apiVersion', 'kind'].includes(field))
        .map(([field, value]) => ({ op: 'add', path: `/${field}`, value })),
    ];
    if (patch.length > 0) await this.#kube('PATCH', pathOf(ref), patch, 'application/json-patch+json');
    const { annotations, labels } = metadata;
    if (annotations !== undefined || labels !== undefined)
      await this.#kube('PATCH', pathOf(ref), { metadata: { annotations, labels } }, 'application/merge-patch+json');
  }

  /** Of what there is now, as kubectl does it: an update without a resourceVersion is refused. */
  async #replace(object: Manifest): Promise<void> {
    const path = pathOf(refOf(object));
    const found = await this.#kube('GET', path);
    if (found.status !== 200) return;
    const { resourceVersion } = (JSON.parse(found.body) as { metadata: { resourceVersion: string } }).metadata;
    await this.#kube('PUT', path, { ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  async #copy({ from, to, patch = {} }: Extract<Deed, { do: 'copy' }>): Promise<void> {
    const found = await this.#kube('GET', pathOf(from));
    if (found.status !== 200) return;
    const { metadata, status: _, ...content } = JSON.parse(found.body) as Manifest;
    const { labels, annotations } = metadata;
    await this.#apply(mergePatch({ ...content, metadata: { ...to, labels, annotations } }, patch) as Manifest);
  }

  async #setBack({ ref, asOf }: Extract<Deed, { do: 'set-back' }>): Promise<void> {
    const { annotations = {} } = this.#versions.get(keyOf(ref.kind, ref))?.findLast(({ at }) => at <= asOf) ?? {};
    const records = Object.entries(annotations).filter(([name]) => !words.has(name));
    const patch = { metadata: { annotations: Object.fromEntries(records) } };
    await this.#kube('PATCH', pathOf(ref), patch, 'application/merge-patch+json');
  }

  async #namespaceOf({ metadata: { namespace } }: Manifest): Promise<void> {
    if (namespace === undefined) return;
    const found = await this.#kube('GET', `/api/v1/namespaces/${namespace}`);
    if (found.status === 404) await this.#kube('POST', '/api/v1/namespaces', named('v1', 'Namespace', namespace));
  }

  #kube(method: string, path: string, body?: object, contentType?: string): Promise<Answer> {
    return this.#world.kubernetes(method, path, body, contentType);
  }

  #resolved<T extends object>(value: T): T {
    return JSON.parse(this.#resolvedText(JSON.stringify(value)));
  }

  #resolvedText(text: string): string {
    return text
      .replace(/\{\{id:([^}]+)\}\}/g, (_, key: string) => this.#ids.get(key) ?? unknownID)
      .replace(/\{\{made:([^}]+)\}\}/g, (_, key: string) => this.#firstIds.get(key) ?? unknownID)
      .replace(/\{\{uid:([^}]+)\}\}/g, (_, key: string) => this.#uids.get(key) ?? '')
      .replace(/\{\{foreign:([^}]+)\}\}/g, (_, name: string) => this.#foreign.get(name) ?? unknownID);
  }
}

type Annotations = Readonly<Record<string, string>>;

/** What people say by annotations. */
const words: ReadonlySet<string> = new Set(
  ['paused', 'reconcile-at', 'force-orphan'].map((name) => `edge-operator.dev/${name}`),
);

/** In place of the id of what nobody could make. */
export const unknownID = 'ra_unknown';

const keyOf = (kind: string, { namespace = '', name = '' }: { readonly namespace?: string; readonly name?: string }) =>
  `${kind}/${namespace}/${name}`;

function named(apiVersion: string, kind: string, name: string): Manifest {
  return { apiVersion, kind, metadata: { name } };
}

function refOf({ kind, metadata: { namespace, name } }: Manifest): ObjectRef {
  return { kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Of every kind that stories speak of. */
export const resources: Readonly<Record<string, readonly [groupPath: string, plural: string]>> = {
  ...Object.fromEntries(
    ['Namespace', 'Secret', 'ConfigMap', 'Service'].map((kind) => [kind, ['/api/v1', `${kind.toLowerCase()}s`]]),
  ),
  Lease: ['/apis/coordination.k8s.io/v1', 'leases'],
  EndpointSlice: ['/apis/discovery.k8s.io/v1', 'endpointslices'],
  ...Object.fromEntries(
    [
      ...['CloudAccount', 'ReservedAddr', 'BotUser', 'Agent', 'AgentTunnel', 'RequestReplay'].map((kind) => [
        kind,
        `${kind.toLowerCase()}s`,
      ]),
      ['HttpsRouteModules', 'httpsroutemodules'],
      ['HttpsEdgeModules', 'httpsedgemodules'],
      ['TlsEdgeTrafficPolicy', 'tlsedgetrafficpolicies'],
    ].map(([kind = '', plural = '']) => [kind, ['/apis/edge-operator.dev/v1alpha1', plural]]),
  ),
};

export function collectionOf({ kind, namespace }: Pick<ObjectRef, 'kind' | 'namespace'>): string {
  const [group, plural] = resources[kind] ?? [];
  if (group === undefined) throw new Error(`no story knows the kind ${kind}`);
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
}

export const pathOf = (ref: ObjectRef): string => `${collectionOf(ref)}/${ref.name}`;

function idIn(answer: Answer): string | undefined {
  if (answer.status !== 201 && answer.status !== 200) return undefined;
  const id = (JSON.parse(answer.body) as { readonly id?: unknown }).id;
  return typeof id === 'string' ? id : undefined;
}
