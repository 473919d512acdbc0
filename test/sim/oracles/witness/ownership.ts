import { type Access, type Accounts, accountsOf } from './accounts.ts';
import { type CloudModel, cloudModelOf, type Thing } from './cloud-model.ts';
import { asksFor } from './implied.ts';
import type { InstallationHistory } from './installations.ts';
import { fieldsOf, textOf } from './json.ts';
import { type KubeModel, type KubeWrite, kubeModelOf } from './kube-model.ts';
import { domain, externalIDOf, isMarked, isObserved, type Kind, type Resource, type Version } from './resource.ts';
import { emptiedBy, restoresOf, wasTroubled } from './troubled.ts';
import { installationOf } from './who.ts';
import { perWorld, type Span, type Witness } from './witness.ts';

/** Of which kind the resources are that manage the objects of a collection. */
export const kindsOfCollection: Readonly<Record<string, Kind>> = {
  reserved_addrs: 'ReservedAddr',
  bot_users: 'BotUser',
};

/** Who first said that an id belongs to a resource. */
interface Naming {
  readonly at: number;
  /** Undefined: a person did. */
  readonly by: string | undefined;
}

/**
 * Whose an object of the cloud is, by what happened: that of the resource for which an operator made it, else of one
 * that imports it. What a person writes into an annotation is a wish; what an operator was the first to write, a record.
 */
export class Ownership {
  readonly #world: Witness;
  readonly #kube: KubeModel;
  readonly #cloud: CloudModel;
  readonly #accounts: Accounts;
  readonly #makers = new Map<Thing, Resource>();
  readonly #made = new Map<Resource, Thing[]>();
  readonly #namings = new Map<string, Map<Resource, Naming>>();

  constructor(world: Witness) {
    this.#world = world;
    this.#kube = kubeModelOf(world);
    this.#cloud = cloudModelOf(world);
    this.#accounts = accountsOf(world);
    this.#kube.writes.add((write) => this.#see(write));
  }

  /** The resource for which an operator made it; undefined for what people made, and where no answer was recorded. */
  makerOf(thing: Thing): Resource | undefined {
    return this.#makers.get(thing);
  }

  /** When an operator first had it on record; undefined while none has. */
  recordedAt(thing: Thing): number | undefined {
    const maker = this.makerOf(thing);
    return maker && this.#namings.get(thing.name)?.get(maker)?.at;
  }

  /** All that was made for it. */
  madeFor(resource: Resource): readonly Thing[] {
    return this.#made.get(resource) ?? [];
  }

  /** Those that name the id, or named it once. */
  naming(id: string): readonly Resource[] {
    return [...(this.#namings.get(id)?.keys() ?? [])];
  }

  /** The resources that may have an object changed or removed, by what they were at some moment of that time. */
  owners(thing: Thing, installation: InstallationHistory, span: Span): readonly Resource[] {
    return this.#candidates(thing, installation, span).filter((resource) => {
      const maker = this.makerOf(thing);
      if (maker === resource) return true;
      const isPossible =
        this.#isServedByMaker(resource, thing) || this.#isLikeAStrangers(resource, thing, installation);
      if (maker === undefined && isPossible && this.#mayHaveMade(resource, thing)) return true;
      if (maker === undefined && this.#isSaidToHaveMade(resource, installation, thing, span)) return true;
      return this.imports(resource, thing, installation, span);
    });
  }

  /** Whether it names the object, by a person's wish, and nothing speaks against it. */
  imports(resource: Resource, thing: Thing, installation: InstallationHistory, span: Span): boolean {
    const versions = resource.versions.during(...span);
    // What it manages by its status stays its own when a person points it at something else.
    const isManaged = textOf(resource.status?.fields.id) === thing.name;
    if (!isManaged && !versions.some((version) => externalIDOf(version) === thing.name)) return false;
    const naming = this.#namings.get(thing.name)?.get(resource);
    if (naming?.by !== undefined) return false;
    const maker = this.makerOf(thing);
    const isClaimed = maker !== undefined && maker !== resource && this.#claims(maker, span);
    if (isClaimed && !hasLost(this.#world, maker, thing, span[1], installation.name)) return false;
    // What it had may have gone since; but what it is removed with is not what it is told to take besides.
    const isFreed = isManaged || versions.at(-1)?.deleting === false;
    const toldAt = naming?.at ?? span[0];
    if (this.#ownsElse(resource, thing, toldAt, isFreed ? span[1] : toldAt)) return false;
    return this.#uses(resource, installation, versions, thing, span);
  }

  /**
   * A person says by its records that it made what nobody did, in an account that it uses: while no status says otherwise that
   * counts as much as if it were true, and is no more than it may have by naming it (docs/security.md).
   */
  #isSaidToHaveMade(resource: Resource, installation: InstallationHistory, thing: Thing, span: Span): boolean {
    const versions = resource.versions.during(...span);
    const isSaid = ({ annotations }: Version) =>
      annotations[`${domain}/created-id`] === thing.name && annotations[`${domain}/record-of`] === resource.uid;
    // What a restored backup does not know says nothing any more.
    const { now } = this.#world.scheduler;
    const restoredAt = Math.max(0, ...restoresOf(this.#world).flatMap(({ to }) => (to <= now ? to : [])));
    const told = [...resource.statuses.all.filter(({ at }) => at >= restoredAt), resource.status];
    const owned = told.flatMap((status) => textOf(fieldsOf(status?.fields.ownership).id) ?? []);
    if (!versions.some(isSaid) || owned.some((id) => id !== thing.name)) return false;
    return this.#uses(resource, installation, versions, thing, span);
  }

  /** Every key that the resource may have used since it was created, or that an operator took for it that knew no better. */
  keysOf(resource: Resource, installation: InstallationHistory, [from, to]: Span): ReadonlySet<string> {
    const since = Math.min(resource.createdAt, from);
    const accesses = this.#accounts.during(installation, resource, resource.versions.all, [since, to]);
    return new Set(accesses.map(({ service, key }) => `${service} ${key}`));
  }

  /** Who is gone, or only observes, claims nothing, whether or not an operator knows of it yet. */
  #claims(maker: Resource, span: Span): boolean {
    return maker.livedIn(span[1], span[1]) && !maker.versions.during(...span).some(isObserved);
  }

  /** Two installations may serve one resource, and the one find what the other made for it. */
  #isServedByMaker(resource: Resource, { made }: Thing): boolean {
    return this.#accounts.installations.get(made.installation ?? '')?.serves(resource, made.at) === true;
  }

  /**
   * A create of just that was begun for the resource, and nothing that its installation sees is what it may have been made for by
   * another one: nobody can tell that it is not what it asked for.
   */
  #isLikeAStrangers(resource: Resource, thing: Thing, installation: InstallationHistory): boolean {
    const { made } = thing;
    const wasBegun = resource.versions.during(made.sentAt - 60_000, made.at).some(isMarked);
    const isKnown = (other: Resource) =>
      installation.serves(other, made.at) && this.#isServedByMaker(other, thing) && this.#mayHaveMade(other, thing);
    return wasBegun && ![...this.#kube.ofKind(resource.kind)].some(isKnown);
  }

  /** Whether the resource could be the one whose create made it, though no answer was recorded. */
  #mayHaveMade(resource: Resource, { collection, made }: Thing): boolean {
    if (kindsOfCollection[collection] !== resource.kind) return false;
    const versions = resource.versions.during(made.sentAt - 60_000, made.at);
    return versions.some(({ spec }) => asksFor(resource.kind, spec, made.body));
  }

  #candidates(thing: Thing, installation: InstallationHistory, [from, to]: Span): readonly Resource[] {
    const kind = kindsOfCollection[thing.collection];
    if (kind === undefined) return [];
    return [...this.#kube.ofKind(kind)].filter(
      (resource) => resource.livedIn(from, to) && installation.serves(resource, to),
    );
  }

  #uses(
    resource: Resource,
    installation: InstallationHistory,
    versions: readonly Version[],
    thing: Thing,
    span: Span,
  ): boolean {
    const isThere = ({ account }: Access) => account === thing.account;
    return this.#accounts.during(installation, resource, versions, span).some(isThere);
  }

  /**
   * It had an object of its own when it was told to take this one, and still then. What was made with a key of another account
   * is not found by this one's.
   */
  #ownsElse(resource: Resource, thing: Thing, toldAt: number, then: number): boolean {
    const isThere = ({ made, gone }: Thing) => made.at <= toldAt && (gone === undefined || gone.at > then);
    const others = this.madeFor(resource).filter((other) => other !== thing && other.account === thing.account);
    return others.some((other) => isThere(other) && this.#isOnRecord(resource, other));
  }

  /** A restored cluster has no record of what was made since its backup. */
  #isOnRecord(resource: Resource, { name, made }: Thing): boolean {
    return !wasTroubled(this.#world, 'kube-restored', made.at) || idsNamedBy(resource).includes(name);
  }

  #see({ at, by, resource }: KubeWrite): void {
    if (resource === undefined || !(resource.kind in implied)) return;
    for (const id of idsNamedBy(resource)) {
      const namings = this.#namings.get(id) ?? new Map<Resource, Naming>();
      this.#namings.set(id, namings);
      if (namings.has(resource)) continue;
      namings.set(resource, { at, by });
      const thing = this.#cloud.object(id);
      if (by === undefined || thing === undefined) continue;
      if (thing.made.installation !== installationOf(by) && !this.#isServedByMaker(resource, thing)) continue;
      const maker = this.#makers.get(thing);
      if (maker !== undefined && !(this.#isLeftBy(maker, thing) && this.#hadBegun(resource, thing))) continue;
      this.#makers.set(thing, resource);
      if (maker !== undefined)
        this.#made.set(maker, this.madeFor(maker).toSpliced(this.madeFor(maker).indexOf(thing), 1));
      this.#made.set(resource, [...this.madeFor(resource), thing]);
    }
  }

  /** Both are gone, and a list that lags behind may show it still; or Kubernetes was restored from a backup that knows nothing of it. */
  #isLeftBy(maker: Resource, { name, gone }: Thing): boolean {
    if (!maker.lives && gone !== undefined) return true;
    const recordedAt = this.#namings.get(name)?.get(maker)?.at ?? Number.NaN;
    const { now } = this.#world.scheduler;
    const isSince = restoresOf(this.#world).some(({ from, to }) => from <= recordedAt && recordedAt <= to && to <= now);
    return isSince && (maker.lostByRestore || !idsNamedBy(maker).includes(name));
  }

  /** Its create was open until now, which may have asked for that. */
  #hadBegun({ kind, versions: { all } }: Resource, { made }: Thing): boolean {
    const before = all.at(-2);
    return before !== undefined && isMarked(before) && all.some(({ spec }) => asksFor(kind, spec, made.body));
  }
}

/**
 * A person took the id from its annotations, or another installation that found it gone, or this one, to which its account was
 * shown as empty, and the status does not tell of it: nothing says any more that it made it.
 */
function hasLost(
  world: Witness,
  { versions, statuses }: Resource,
  { name: id, account }: Thing,
  now: number,
  installation: string,
): boolean {
  const isNamedIn = (version: Version) => Object.values(version.annotations).includes(id);
  const status = statuses.at(now)?.fields;
  const current = versions.at(now);
  if (status?.id === id || fieldsOf(status?.ownership).id === id || (current && isNamedIn(current))) return false;
  const last = versions.all.findLast((version, index) => {
    const before = versions.all[index - 1];
    return before !== undefined && isNamedIn(before) && !isNamedIn(version);
  });
  if (last?.by === undefined) return last !== undefined;
  return installationOf(last.by) !== installation || emptiedBy(world, account, last.at) !== undefined;
}

export const ownershipOf = perWorld((world) => new Ownership(world));

const implied = Object.fromEntries(Object.values(kindsOfCollection).map((kind) => [kind, true]));

/** In the annotations of our domain and in its status. */
export function idsNamedBy(resource: Resource): readonly string[] {
  const { annotations } = resource.version;
  const texts = Object.entries(annotations)
    .filter(([name]) => name.startsWith(`${domain}/`))
    .map(([, value]) => value);
  const id = textOf(resource.status?.fields.id);
  const all = id === undefined ? texts : [...texts, id];
  return all.filter((text) => /^(ra|bot)_[0-9A-Za-z]+$/.test(text));
}
