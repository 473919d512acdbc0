import { type Accounts, accountsOf } from './accounts.ts';
import { type Call, type CloudModel, cloudModelOf, succeeded, type Thing } from './cloud-model.ts';
import { type Disturbances, disturbancesOf } from './disturbances.ts';
import { missing, strangeBesideKept } from './expectation.ts';
import { type ImpliedModule, impliedModules, modulePaths } from './implied.ts';
import type { InstallationHistory } from './installations.ts';
import { fieldsOf, parsed } from './json.ts';
import type { AccountID } from './keys.ts';
import { type KubeModel, type KubeWrite, kubeModelOf } from './kube-model.ts';
import { domain, isObserved, type Kind, type Resource, type Status, type Version } from './resource.ts';
import { perWorld, type Span, second, type Witness } from './witness.ts';

export const moduleKinds: readonly Kind[] = ['HttpsRouteModules', 'HttpsEdgeModules', 'TlsEdgeTrafficPolicy'];

/** What operators know of Kubernetes is at most so old, when nothing is disturbed. */
export const lagMs = 30 * second;

interface Owner {
  readonly resource: Resource;
  readonly since: number;
}

/** Whose a module is: that of the resource that applied it first and names it still. */
export class ModuleOwnership {
  readonly #kube: KubeModel;
  readonly #cloud: CloudModel;
  readonly #accounts: Accounts;
  readonly #disturbances: Disturbances;
  readonly #owners = new Map<Thing, Owner>();
  /** Who asked for what was put last. */
  readonly #asking = new Map<Thing, readonly Resource[]>();

  constructor(world: Witness) {
    this.#kube = kubeModelOf(world);
    this.#cloud = cloudModelOf(world);
    this.#accounts = accountsOf(world);
    this.#disturbances = disturbancesOf(world);
    this.#kube.writes.add((write) => this.#seeReport(write));
  }

  /** What an operator may still go by at that moment. */
  spanAt(now: number): Span {
    return [this.#disturbances.knowledge(now, lagMs), now];
  }

  /** The resource that has it, unless it has let go of it by then. */
  ownerOf(thing: Thing, now: number): Resource | undefined {
    const owner = this.applierOf(thing, now);
    return owner === undefined || this.#isElsewhere(owner, thing) ? undefined : owner;
  }

  /** As `ownerOf`, whatever account its key opens now. */
  applierOf(thing: Thing, now: number): Resource | undefined {
    const owner = this.#owners.get(thing);
    const isHeld = owner !== undefined && holds(owner.resource, thing, now) && !wasRemoved(thing, owner.since, now);
    return isHeld ? owner.resource : undefined;
  }

  /** As others alone asked, whose keys open another account now: for whom it is here that is as if a person had put it. */
  wasPutWithWrongKey(thing: Thing, resource: Resource): boolean {
    const asking = this.#asking.get(thing) ?? [];
    return asking.length > 0 && asking.every((each) => each !== resource && this.#isElsewhere(each, thing));
  }

  /** The key that it uses opens another account: what it has here, as by a wrong key before, nobody can know of. */
  #isElsewhere(resource: Resource, { account }: Thing): boolean {
    const accounts = this.#accessesOf(resource).flatMap((access) => access.account ?? []);
    return accounts.length > 0 && !accounts.includes(account as AccountID);
  }

  /** Whose word is that they applied the module, by an annotation that anybody may write. */
  sayingApplied(path: string, span: Span): readonly Resource[] {
    return moduleKinds
      .flatMap((kind) => [...this.#kube.ofKind(kind)])
      .filter((resource) => {
        const part = partOf(resource, path);
        return part !== undefined && resource.versions.during(...span).some((version) => saysApplied(version, part));
      });
  }

  /** When the owner became it. */
  ownedSince(thing: Thing): number | undefined {
    return this.#owners.get(thing)?.since;
  }

  /** Whoever names the module, or named it since it was created, and uses that account. */
  claimants(path: string, account: AccountID | undefined, installation: InstallationHistory, span: Span) {
    return this.naming(path)
      .filter((resource) => resource.livedIn(...span) && installation.serves(resource, span[1]))
      .filter((resource) => {
        // What is known of its account may be older than it is.
        const whole: Span = [Math.min(resource.createdAt, span[0]), span[1]];
        const accesses = this.#accounts.during(installation, resource, resource.versions.all, whole);
        return account === undefined || accesses.some((access) => access.account === account);
      });
  }

  /** What a version asks of the module, with all that its references held in that time; undefined: nothing. */
  asked(resource: Resource, version: Version, path: string, span: Span): ImpliedModule | undefined {
    return impliedModules(resource.kind, version.spec, (kind, name, key) =>
      this.#kube.valuesOf(kind, resource.namespace, name, key, ...span),
    ).find((each) => each.path === path);
  }

  /** The versions of that time by which a PUT of that body is asked. */
  asking(resource: Resource, call: Pick<Call, 'path' | 'flight'>, span: Span): readonly Version[] {
    const body = fieldsOf(parsed(call.flight.body));
    return resource.versions.during(...span).filter((version) => {
      const content = this.asked(resource, version, call.path, span)?.content;
      return content !== undefined && strangeBesideKept(body, content).length + missing(body, content).length === 0;
    });
  }

  /**
   * Whoever the PUT was for becomes the owner of what nobody has; returns whom it was for. Where several ask for the same
   * it cannot be told from the PUT, but from the report that follows.
   */
  attribute(call: Call, installation: InstallationHistory): Resource | undefined {
    const span = this.spanAt(call.sentAt);
    const claimants = this.claimants(call.path, call.account, installation, span);
    const asking = claimants.filter((resource) => this.asking(resource, call, span).length > 0);
    const { thing } = call;
    const owner = thing && this.ownerOf(thing, call.sentAt);
    const author = owner !== undefined && asking.includes(owner) ? owner : asking[0];
    if (thing !== undefined && succeeded(call)) this.#asking.set(thing, asking);
    if (thing !== undefined && owner === undefined && author !== undefined && asking.length === 1 && succeeded(call))
      this.#owners.set(thing, { resource: author, since: call.sentAt });
    return author;
  }

  /** Whoever ever named the module, in whatever account. */
  naming(path: string): readonly Resource[] {
    return moduleKinds.flatMap((kind) => [...this.#kube.ofKind(kind)].filter((resource) => everNamed(resource, path)));
  }

  /** What was as it asked already, and was reported so, is its own as well. */
  #seeReport({ at, by, resource }: KubeWrite): void {
    if (by === undefined || resource === undefined || resource.ready?.status !== 'True') return;
    if (!moduleKinds.includes(resource.kind) || isObserved(resource.version)) return;
    if (resource.ready.observedGeneration !== resource.version.generation) return;
    for (const { part, path } of modulePaths(resource.kind, resource.version.spec)) {
      if (!names(resource.version, part)) continue;
      for (const { account } of this.#accessesOf(resource)) {
        const thing = account && this.#cloud.thing(account, path);
        if (thing?.gone === undefined && thing !== undefined && this.ownerOf(thing, at) === undefined)
          this.#owners.set(thing, { resource, since: at });
      }
    }
  }

  #accessesOf(resource: Resource) {
    return [...this.#accounts.installations.values()].flatMap((each) => this.#accounts.now(each, resource) ?? []);
  }
}

export const moduleOwnershipOf = perWorld((world) => new ModuleOwnership(world));

/** Whether the version asks for that part. */
export function names({ spec }: Version, part: string): boolean {
  return part === 'trafficPolicy' || spec[part] !== undefined;
}

export function saysApplied({ annotations }: Version, part: string): boolean {
  return annotations[`${domain}/applied-parts`]?.split(',').includes(part) === true;
}

/** The status says that it has that part; tenants write none. */
export function proves(status: Status | undefined, part: string | undefined): boolean {
  const { parts } = fieldsOf(status?.fields.ownership);
  return Array.isArray(parts) && parts.includes(part);
}

function everNamed(resource: Resource, path: string): boolean {
  const part = partOf(resource, path);
  return part !== undefined && resource.versions.all.some((version) => names(version, part));
}

/** The part that the path is, of a resource whose parent it has. */
export function partOf({ kind, version }: Resource, path: string): string | undefined {
  return modulePaths(kind, version.spec).find((each) => each.path === path)?.part;
}

/** By an operator, who is judged for it: whoever names it from then on is the first to. */
function wasRemoved({ edits }: Thing, since: number, now: number): boolean {
  return edits.some(
    ({ method, installation, at }) => method === 'DELETE' && installation !== undefined && at > since && at < now,
  );
}

/** It is there and names the module, or has not got to removing it yet. */
function holds(resource: Resource, { name }: Thing, now: number): boolean {
  const part = partOf(resource, name);
  if (part === undefined || !resource.livedIn(now, now)) return false;
  const version = resource.versions.at(now);
  return version !== undefined && !version.deleting && names(version, part) && !isObserved(version);
}
