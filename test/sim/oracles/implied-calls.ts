import type { Report } from '../core/run.ts';
import { wasDeniedAlone } from './verdicts/denied.ts';
import { isForged } from './verdicts/excuses.ts';
import { hasLostItsMark, wasUndoneByRestore } from './verdicts/left-behind.ts';
import { accountsOf } from './witness/accounts.ts';
import { type Call, cloudModelOf, type Thing } from './witness/cloud-model.ts';
import { strange } from './witness/expectation.ts';
import { asksFor, impliedObject } from './witness/implied.ts';
import { fieldsOf, parsed } from './witness/json.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { moduleOwnershipOf, names, partOf } from './witness/module-ownership.ts';
import { type Mutation, mutationsOf, told } from './witness/mutations.ts';
import { kindsOfCollection, ownershipOf } from './witness/ownership.ts';
import {
  domain,
  externalIDOf,
  isObserved,
  isPaused,
  isRetained,
  type Resource,
  type Version,
} from './witness/resource.ts';
import { restoresOf } from './witness/troubled.ts';
import type { Witness } from './witness/witness.ts';

/** Every change of the cloud is asked for by a spec as it was when the call was sent, or a few seconds before. */
export function impliedCalls(world: Witness, report: Report) {
  const judge = new Implications(world);
  mutationsOf(world).listeners.add((mutation) => {
    const why = judge.notImplied(mutation);
    if (why !== undefined) report('implied-calls', `${told(mutation.call)}: ${why}`);
  });
  return {};
}

class Implications {
  readonly #world: Witness;

  constructor(world: Witness) {
    this.#world = world;
  }

  /** Undefined: it is asked for. */
  notImplied(mutation: Mutation): string | undefined {
    const { method, target } = mutation.call;
    if (wasOfNothing(mutation.call)) return undefined;
    if (target.kind === 'list') return this.#create(mutation, target.collection);
    if (target.kind === 'module') return method === 'PUT' ? this.#put(mutation) : this.#removal(mutation);
    return method === 'DELETE' ? this.#delete(mutation) : this.#update(mutation);
  }

  #create(mutation: Mutation, collection: string): string | undefined {
    const { call, installation, span } = mutation;
    const kind = kindsOfCollection[collection];
    if (kind === undefined) return 'nothing of the sort can be made';
    const body = fieldsOf(parsed(call.flight.body));
    const asking = [...kubeModelOf(this.#world).ofKind(kind)].filter((resource) => {
      if (!resource.livedIn(...span) || !installation.serves(resource, call.sentAt)) return false;
      return resource.versions.during(...span).some(({ spec }) => asksFor(kind, spec, body));
    });
    if (asking.length === 0) return `no ${kind} asks for ${call.flight.body}`;
    const reasons = asking.map((resource) => this.#mayNotCreate(resource, mutation));
    return reasons.includes(undefined) ? undefined : reasons.join('; ');
  }

  #mayNotCreate(resource: Resource, mutation: Mutation): string | undefined {
    const { call, installation, span } = mutation;
    const has = this.#hasAlready(resource, mutation);
    if (has !== undefined) return `${resource.key} has ${has.name} already`;
    const versions = resource.versions.during(...span);
    const active = versions.filter((version) => isActive(version) && !version.deleting);
    if (active.length === 0) return `${resource.key} is deleted, paused or Observe`;
    const foreign = active.map((version) => this.#importOf(resource, version));
    if (!foreign.includes(undefined)) return `${resource.key} imports ${foreign[0]}`;
    const held = this.#heldImport(resource);
    if (held !== undefined) return `${resource.key} imported ${held}, which it still had when the annotation went`;
    const accesses = accountsOf(this.#world).during(installation, resource, active, span);
    const uses = accesses.some(({ service, key }) => service === call.service && key === call.key);
    return uses ? undefined : `${resource.key} uses another account`;
  }

  /** An object that it made, that is there and that no person took from it. */
  #hasAlready(resource: Resource, { call }: Mutation): Thing | undefined {
    return ownershipOf(this.#world)
      .madeFor(resource)
      .find((thing) => {
        if (thing.account !== call.account || thing === call.thing || thing.made.at > call.sentAt) return false;
        if (wasWiped(resource, thing.name) || hasLostItsMark(this.#world, resource, thing)) return false;
        if (wasDeniedAlone(this.#world, resource, thing, call)) return false;
        if (isForgottenByRestore(this.#world, resource, thing, call.sentAt)) return false;
        return thing.gone === undefined || thing.gone.at > call.sentAt;
      });
  }

  /** The id of something that it did not make. */
  #importOf(resource: Resource, version: Version): string | undefined {
    const id = externalIDOf(version) ?? idTakenByOperator(resource, version);
    // Whoever forges that it was made gets another when it is not there.
    if (id === undefined || isForged(resource)) return undefined;
    const thing = cloudModelOf(this.#world).object(id);
    return thing !== undefined && ownershipOf(this.#world).makerOf(thing) === resource ? undefined : id;
  }

  /**
   * What it imported last, where the annotation was wiped from it while it had the object: as long as the status names it
   * that is no wish for another. When the object is not there any more, it is.
   */
  #heldImport(resource: Resource): string | undefined {
    const all = resource.versions.all;
    const wiped = all.findLastIndex((version, index) => {
      const before = all[index - 1];
      return version.by === undefined && before !== undefined && externalIDOf(before) !== externalIDOf(version);
    });
    const [before, version] = [all[wiped - 1], all[wiped]];
    const id = before && externalIDOf(before);
    if (version === undefined || id === undefined || externalIDOf(version) !== undefined) return undefined;
    const thing = cloudModelOf(this.#world).object(id);
    if (thing === undefined || ownershipOf(this.#world).makerOf(thing) === resource) return undefined;
    const isHeld = resource.statuses.at(version.at)?.fields.id === id && (thing.gone?.at ?? version.at) >= version.at;
    return isHeld ? id : undefined;
  }

  #update(mutation: Mutation): string | undefined {
    const { call, span } = mutation;
    const owners = this.#having(mutation);
    if (owners.length === 0) return undefined;
    const body = fieldsOf(parsed(call.flight.body));
    if (Object.keys(body).length === 0) return 'it changes nothing';
    const asks = (resource: Resource) =>
      resource.versions.during(...span).some((version) => {
        const content = impliedObject(resource.kind, version.spec)?.content;
        return content !== undefined && isActive(version) && !version.deleting && strange(body, content).length === 0;
      });
    return owners.some(asks) ? undefined : `${keysOf(owners)} does not ask for ${call.flight.body}`;
  }

  #delete(mutation: Mutation): string | undefined {
    const { span } = mutation;
    const owners = this.#having(mutation);
    if (owners.length === 0) return undefined;
    const asks = (resource: Resource) =>
      resource.versions
        .during(...span)
        .some((version) => version.deleting && isActive(version) && !isRetained(version));
    return owners.some(asks) ? undefined : `${keysOf(owners)} is not to be deleted, or is to leave it`;
  }

  /** Whose it is, but for those for whom another was made as it was taken for gone: that is whose that names it. */
  #having({ call: { thing, sentAt }, owners }: Mutation): readonly Resource[] {
    if (thing === undefined) return owners;
    return owners.filter((owner) => {
      const made = ownershipOf(this.#world).madeFor(owner);
      const later = made.includes(thing) ? made.slice(made.indexOf(thing) + 1) : [];
      const hasAnother = later.some((next) => next.made.at <= sentAt);
      return !(hasAnother && wasDeniedAlone(this.#world, owner, thing));
    });
  }

  #put({ call, installation, owners, span }: Mutation): string | undefined {
    if (owners.length === 0) return undefined;
    const modules = moduleOwnershipOf(this.#world);
    const asks = (resource: Resource) => {
      const versions = modules.asking(resource, call, span).filter((version) => isActive(version) && !version.deleting);
      return accountsOf(this.#world)
        .during(installation, resource, versions, span)
        .some(({ service, key }) => service === call.service && key === call.key);
    };
    return owners.some(asks) ? undefined : `${keysOf(owners)} does not ask for ${call.flight.body}`;
  }

  #removal({ call, owners, owner, span }: Mutation): string | undefined {
    if (owners.length === 0 || (!this.#isOnRecord(call, owner) && this.#isClaimedByForger(call))) return undefined;
    const asks = (resource: Resource) => {
      const part = partOf(resource, call.path) ?? '';
      return resource.versions.during(...span).some((version) => {
        if (!isActive(version)) return false;
        return version.deleting ? !isRetained(version) : !names(version, part);
      });
    };
    return owners.some(asks) ? undefined : `${keysOf(owners)} names it still, or is to leave it`;
  }

  /** Somebody's own, of which a restored cluster has the record. */
  #isOnRecord({ thing }: Call, owner: Resource | undefined): boolean {
    const since = thing && moduleOwnershipOf(this.#world).ownedSince(thing);
    return owner !== undefined && !wasUndoneByRestore(this.#world, since ?? 0);
  }

  /** What is nobody's any more goes with whoever says that he applied it, and who might apply it as well. */
  #isClaimedByForger({ path, at }: Call): boolean {
    const saying = moduleOwnershipOf(this.#world).sayingApplied(path, [at, at]);
    return saying.some((resource) => {
      const isToGo = resource.version.deleting || !names(resource.version, partOf(resource, path) ?? '');
      return isToGo && isForged(resource);
    });
  }
}

/** What was not there, or no longer, is nobody's. */
function wasOfNothing({ method, status, thing, sentAt }: Call): boolean {
  const wasThere = thing !== undefined && (thing.gone === undefined || thing.gone.at > sentAt);
  return method !== 'POST' && status === 404 && !wasThere;
}

function isActive(version: Version): boolean {
  return !isPaused(version) && !isObserved(version);
}

/** An operator makes room for another id: that is no wish of anybody's. */
function idTakenByOperator({ versions }: Resource, version: Version): string | undefined {
  const before = versions.all.slice(0, versions.all.indexOf(version) + 1);
  const last = before.findLastIndex((each) => externalIDOf(each) !== undefined);
  const taker = before[last + 1];
  return last < 0 || taker?.by === undefined ? undefined : externalIDOf(before[last] as Version);
}

/** A person removed the id from the annotations, whoever put it back. */
function wasWiped({ versions }: Resource, id: string): boolean {
  const all = versions.all;
  return all.some((version, index) => {
    const before = all[index - 1];
    return (
      version.by === undefined && before !== undefined && externalIDOf(before) === id && externalIDOf(version) !== id
    );
  });
}

/** Kubernetes went back, for good, to a backup from before it was made: nothing says since that the resource had it. */
function isForgottenByRestore(world: Witness, resource: Resource, { name: id, made }: Thing, now: number): boolean {
  const names = (version: Version) => externalIDOf(version) === id || createdIDOf(version) === id;
  return restoresOf(world).some(({ from, to }) => {
    if (from > made.at || made.at > to || to > now) return false;
    const { versions, statuses } = resource;
    return !versions.during(to, now).some(names) && statuses.during(to, now).every(({ fields }) => fields.id !== id);
  });
}

const createdIDOf = ({ annotations }: Version) => annotations[`${domain}/created-id`];

const keysOf = (resources: readonly Resource[]): string => resources.map(({ key }) => key).join(', ');
