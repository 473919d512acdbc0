import { defaultCreateSettleMs } from '../core/duration.ts';
import type { Report } from '../core/run.ts';
import { wasForgottenByRestore, wasUndoneByRestore } from './verdicts/left-behind.ts';
import { accountsOf } from './witness/accounts.ts';
import { type Call, cloudModelOf } from './witness/cloud-model.ts';
import { idsIn } from './witness/ids.ts';
import { type InstallationHistory, installationsOf } from './witness/installations.ts';
import { fieldsOf, parsed, textsOf } from './witness/json.ts';
import { type KubeWrite, kubeModelOf } from './witness/kube-model.ts';
import { moduleOwnershipOf, names, partOf, proves } from './witness/module-ownership.ts';
import { type Mutation, mutationsOf, told } from './witness/mutations.ts';
import { ownershipOf } from './witness/ownership.ts';
import { domain, partCondition, type Resource } from './witness/resource.ts';
import { type Span, second, type Witness } from './witness/witness.ts';

/** Of two that begin at once either may be first. */
const raceMs = 5 * second;

/** Nothing is changed or removed but by whom it is for, and with its own key; nobody is told of what is another's. */
export function nothingStolen(world: Witness, report: Report) {
  const thefts = new Thefts(world);
  const say = (why: string | undefined) => {
    if (why !== undefined) report('nothing-stolen', why);
  };
  mutationsOf(world).listeners.add((mutation) => {
    const why = thefts.of(mutation);
    if (why !== undefined) say(`${told(mutation.call)}: ${why}`);
  });
  cloudModelOf(world).calls.add((call) => say(thefts.look(call)));
  kubeModelOf(world).writes.add((write) => say(thefts.told(write)));
  return {};
}

class Thefts {
  readonly #world: Witness;

  constructor(world: Witness) {
    this.#world = world;
  }

  of(mutation: Mutation): string | undefined {
    const { call, owners } = mutation;
    const { thing, target } = call;
    if (target.kind === 'list' || thing === undefined || wasGone(call) || isTooLate(call)) return undefined;
    if (owners.length === 0) {
      const isExcused = this.#isSaidToBeApplied(mutation) || this.#isOfNobodyKnown(mutation);
      return isExcused ? undefined : `it is ${this.#whose(call)}`;
    }
    return this.#taken(mutation) ?? this.#wrongKey(mutation);
  }

  /** Those whose create was answered with it, whosever it is. */
  #answered(id: string): readonly Resource[] {
    const all = [...kubeModelOf(this.#world).live.values()];
    return all.filter(
      ({ version }) => fieldsOf(parsed(version.annotations[`${domain}/create-intent`])).answered === id,
    );
  }

  /** An object is looked at with a key of whoever names it, or was answered with it. */
  look({ method, target, installation: name, service, key, process, path }: Call): string | undefined {
    if (method !== 'GET' || target.kind !== 'object') return undefined;
    const installation = installationsOf(this.#world).get(name ?? '');
    const naming = ownershipOf(this.#world).naming(target.id);
    if (installation === undefined || naming.length === 0) return undefined;
    const { now } = this.#world.scheduler;
    const may = [...naming, ...this.#answered(target.id)].some((resource) =>
      this.#keysOf(resource, installation.name, now).has(`${service} ${key}`),
    );
    return may ? undefined : `GET ${path} by ${process} with a key that is not of ${naming.map((each) => each.key)}`;
  }

  /** No message names what is in an account that the resource does not use, and another namespace's. */
  told({ resource, by, at }: KubeWrite): string | undefined {
    if (resource === undefined || by === undefined || resource.status?.at !== at) return undefined;
    const accounts = accountsOf(this.#world);
    for (const id of idsIn(resource.ready?.message ?? '')) {
      if (wasNamedByPerson(resource, id)) continue;
      const thing = cloudModelOf(this.#world).object(id);
      const maker = thing && ownershipOf(this.#world).makerOf(thing);
      if (thing === undefined || maker === undefined || maker.namespace === resource.namespace) continue;
      const uses = [...accounts.installations.values()].some((installation) =>
        accounts
          .during(installation, resource, resource.versions.all, [resource.createdAt, at])
          .some(({ account }) => account === thing.account),
      );
      if (!uses) return `${resource.key} is told of ${id} of another namespace`;
    }
    return undefined;
  }

  /** Nobody can tell that two keys open one account. */
  #isSameKey({ key, installation: name }: Call, owner: Resource): boolean {
    const installation = installationsOf(this.#world).get(name ?? '');
    return installation !== undefined && accountsOf(this.#world).now(installation, owner)?.key === key;
  }

  /** A module that somebody else applied and has still. */
  #taken(mutation: Mutation): string | undefined {
    const { call, installation, owner, author, span, owners } = mutation;
    if (owner === undefined || call.thing === undefined) return undefined;
    // Of what another installation manages, in a namespace that this one may not read, it cannot know.
    if (!installation.serves(owner, call.sentAt)) return undefined;
    const since = moduleOwnershipOf(this.#world).ownedSince(call.thing) ?? 0;
    // Records of a restored cluster say whose it was before.
    if (wasUndoneByRestore(this.#world, since)) return undefined;
    if (call.method === 'PUT') {
      const isOther = author !== undefined && author !== owner && !this.#hasElsewhere(author, call);
      const isTheft = isOther && call.sentAt - since > raceMs;
      return isTheft && this.#isSameKey(call, owner) && !this.#neverMet(mutation, owner, author)
        ? `${owner.key} has it, and ${author.key} puts something else there`
        : undefined;
    }
    const part = partOf(owner, call.path) ?? '';
    // Two put it in place at once, and the one has not heard of the other yet.
    const isNews = since >= span[0] && owners.some((each) => each !== owner && proves(each.status, part));
    if (isNews || !this.#isSameKey(call, owner)) return undefined;
    const letsGo = owner.versions.during(...span).some((version) => version.deleting || !names(version, part));
    const others = owners.filter((each) => each !== owner).map(({ key }) => key);
    return letsGo ? undefined : `${owner.key} has it; it is not of ${others.join(', ')}`;
  }

  /**
   * The process never saw both accounts with one key, and nothing on record tells of it: who asks was not told of a Conflict, or
   * is proven to have the module too.
   */
  #neverMet({ call, installation }: Mutation, owner: Resource, author: Resource): boolean {
    const { process, sentAt, path, service, key } = call;
    const part = partOf(author, path) ?? '';
    // Of two who came to have it while keys kept them apart, age decides once it is known that their account is one.
    if (proves(author.status, part) && !hasLost(author, part) && this.#cameApart(author, owner, installation, part))
      return true;
    if (wasToldOfConflict(author, part)) return false;
    const begunAt = this.#world.beginnings.find((each) => each.process === process)?.at ?? 0;
    // What it read as it began, and what it heard of since.
    const seen: Span = [begunAt, Math.max(begunAt, moduleOwnershipOf(this.#world).spanAt(sentAt)[0])];
    const [his, mine] = [this.#keysIn(seen, owner, installation), this.#keysIn(seen, author, installation)];
    // Who has shown no key keeps what he is proven to have.
    return his.size > 0 && his.isDisjointFrom(mine.union(new Set([`${service} ${key}`])));
  }

  /** They had two keys when he first was proven to have it, as far as an operator may have known. */
  #cameApart(author: Resource, owner: Resource, installation: InstallationHistory, part: string): boolean {
    const first = author.statuses.all.find((status) => proves(status, part));
    if (first === undefined) return false;
    const known = moduleOwnershipOf(this.#world).spanAt(first.at);
    const [his, mine] = [this.#keysIn(known, owner, installation), this.#keysIn(known, author, installation)];
    return his.union(mine).size > 1;
  }

  /**
   * A module that no spec names and whose word is that he applied it: he may have it removed, for with a key of his he might
   * apply it and then remove it as well.
   */
  #isSaidToBeApplied({ call, installation, span }: Mutation): boolean {
    if (call.method !== 'DELETE' || call.target.kind !== 'module') return false;
    const used = `${call.service} ${call.key}`;
    return moduleOwnershipOf(this.#world)
      .sayingApplied(call.path, span)
      .some((resource) => this.#keysOf(resource, installation.name, call.sentAt).has(used));
  }

  /**
   * A person named it for a resource, or no trace is left of its making, and who made it is in a namespace that this installation
   * may not read.
   */
  #isOfNobodyKnown({ call, installation, span }: Mutation): boolean {
    const { thing, sentAt } = call;
    const maker = thing && ownershipOf(this.#world).makerOf(thing);
    if (thing === undefined || maker === undefined || installation.serves(maker, sentAt)) return false;
    return ownershipOf(this.#world)
      .naming(thing.name)
      .filter((each) => each.livedIn(...span) && installation.serves(each, sentAt))
      .some((each) => wasNamedByPerson(each, thing.name) || wasForgottenByRestore(this.#world, thing));
  }

  /** Accounts here have edges of the same ids; of the cloud each has its own, so that with another's key there is none. */
  #hasElsewhere(author: Resource, { account, path, sentAt }: Call): boolean {
    return [...cloudModelOf(this.#world).things].some(
      (thing) =>
        thing.name === path &&
        thing.account !== account &&
        moduleOwnershipOf(this.#world).applierOf(thing, sentAt) === author,
    );
  }

  #wrongKey({ call, owners, installation }: Mutation): string | undefined {
    const used = `${call.service} ${call.key}`;
    if (owners.some((owner) => this.#keysOf(owner, installation.name, call.sentAt).has(used))) return undefined;
    return `the key is none of ${owners.map(({ key }) => key).join(', ')}`;
  }

  #keysOf(resource: Resource, installation: string, now: number): ReadonlySet<string> {
    const history = installationsOf(this.#world).get(installation);
    if (history === undefined) return new Set();
    return ownershipOf(this.#world).keysOf(resource, history, moduleOwnershipOf(this.#world).spanAt(now));
  }

  #keysIn(span: Span, resource: Resource, installation: InstallationHistory): ReadonlySet<string> {
    const accesses = accountsOf(this.#world).during(installation, resource, resource.versions.all, span);
    return new Set(accesses.map(({ service, key }) => `${service} ${key}`));
  }

  #whose({ thing, target }: Call): string {
    if (thing === undefined || target.kind === 'module') return "no resource's that names it";
    const maker = ownershipOf(this.#world).makerOf(thing);
    if (maker !== undefined) return `${maker.key}'s`;
    return thing.made.installation === undefined ? "a person's" : `something that ${thing.made.process} made`;
  }
}

/** It had gone before: nothing is done. */
function wasGone({ thing, at, status }: Call): boolean {
  return status === 404 || (thing?.gone !== undefined && thing.gone.at < at);
}

function wasToldOfConflict({ statuses }: Resource, part: string): boolean {
  return statuses.all.some((status) => partCondition(status, part)?.reason === 'Conflict');
}

/** To another one, before that one turned out to have it too. */
function hasLost({ status }: Resource, part: string): boolean {
  return textsOf(fieldsOf(status?.fields.ownership).contested).includes(part);
}

/** Whoever wrote the id first knows it. */
function wasNamedByPerson({ versions }: Resource, id: string): boolean {
  const first = versions.all.find(({ annotations }) => Object.values(annotations).includes(id));
  return first !== undefined && first.by === undefined;
}

/** Nobody can wait for a service that acts later than `--create-settle`. */
const isTooLate = ({ at, sentAt }: Call): boolean => at - sentAt > defaultCreateSettleMs;
