import { epochMs } from '../../core/process.ts';
import { accountNameOf, accountsOf } from '../witness/accounts.ts';
import { cloudModelOf, type Thing } from '../witness/cloud-model.ts';
import { different, type Expectation, missing, strange, strangeBesideKept } from '../witness/expectation.ts';
import { asksFor, impliedModules, impliedObject, modulePaths } from '../witness/implied.ts';
import { fieldsOf, parsed, textOf, textsOf } from '../witness/json.ts';
import { type AccountID, serviceOf } from '../witness/keys.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { names, partOf } from '../witness/module-ownership.ts';
import { idsNamedBy, ownershipOf } from '../witness/ownership.ts';
import { type Reference, referencesOf } from '../witness/references.ts';
import { refusalsOf } from '../witness/refusals.ts';
import {
  annotationNames,
  domain,
  externalIDOf,
  isMarked,
  isObserved,
  isOfSameManager,
  isPaused,
  managerOf,
  markedVersionOf,
  type Resource,
} from '../witness/resource.ts';
import { installationOf } from '../witness/who.ts';
import { hour, type Witness } from '../witness/witness.ts';
import { isDoubtful } from './doubts.ts';
import { accessesOf, isOfAgents, servants } from './look.ts';

type Excuse = (world: Witness, resource: Resource) => boolean;

/** Whether a reason that a resource gives for not being Ready is true, as far as anybody outside can tell. */
export function isSoFor(world: Witness, resource: Resource, reason: string): boolean {
  if (isPaused(resource.version)) return reason === 'Paused';
  if (isOfAgents(resource)) return ofAgents.includes(reason);
  if (isLeftInTrouble(world, resource)) return true;
  return excuses[reason]?.(world, resource) ?? false;
}

/** What agents know is not looked into here. */
const ofAgents = [
  'Unreachable',
  'Unauthorized',
  'Rejected',
  'Conflict',
  'DependencyNotReady',
  'OutcomeUnknown',
  'ExternalNotFound',
  'Deleting',
];

const excuses: Readonly<Record<string, Excuse>> = {
  ExternalNotFound: isNotFound,
  DriftDetected: (world, resource) => isObserved(resource.version) && differs(world, resource),
  Conflict: (world, resource) => hasRival(world, resource) || isLeftToAnother(world, resource),
  Rejected: isRejected,
  DependencyNotReady: lacksSomething,
  Unauthorized: (world, resource) => accessesOf(world, resource).some(({ account }) => account === undefined),
  Unreachable: (world, resource) =>
    accessesOf(world, resource).some(({ service }) => !isService(service)) ||
    isDoubtful(world, resource) ||
    isForged(resource),
  AmbiguousCreate: (world, resource) => {
    const twins = unclaimedTwins(world, resource);
    return isUnsure(twins, markOf(world, resource)) || twins.some((each) => mayBeAnothers(world, resource, each));
  },
  Deleting: (world, resource) => resource.kind === 'CloudAccount' && usersOf(world, resource).length > 0,
};

const isService = (name: string): boolean => /^(?:other-)?cloud$/.test(name);

/** What it imports is not in its account, or nothing is named that it could observe. */
function isNotFound(world: Witness, resource: Resource): boolean {
  const id = externalIDOf(resource.version) ?? textOf(resource.status?.fields.id);
  if (impliedObject(resource.kind, resource.version.spec) === undefined)
    return isObserved(resource.version) && modulesOf(world, resource).some(({ content }) => content === undefined);
  if (id === undefined) return isObserved(resource.version);
  const maker = makerOf(world, id);
  if (maker === resource && !isObserved(resource.version)) return false;
  return accessesOf(world, resource).some(
    ({ account }) => account === undefined || cloudModelOf(world).thing(account, id)?.content === undefined,
  );
}

function makerOf(world: Witness, id: string): Resource | undefined {
  const thing = cloudModelOf(world).object(id);
  return thing && ownershipOf(world).makerOf(thing);
}

/** What the service shows of each module that it names. */
function modulesOf(world: Witness, resource: Resource) {
  const { now } = world.scheduler;
  const implied = impliedModules(resource.kind, resource.version.spec, (kind, name, key) =>
    kubeModelOf(world).valuesOf(kind, resource.namespace, name, key, now, now),
  );
  return accessesOf(world, resource).flatMap(({ account }) =>
    implied.map((each) => ({
      ...each,
      expected: each.content,
      account,
      content: account && cloudModelOf(world).thing(account, each.path)?.content,
    })),
  );
}

function differs(world: Witness, resource: Resource): boolean {
  const implied = impliedObject(resource.kind, resource.version.spec);
  if (implied === undefined)
    return modulesOf(world, resource).some(
      ({ content, expected }) => content !== undefined && different(content, expected).length > 0,
    );
  const id = externalIDOf(resource.version) ?? textOf(resource.status?.fields.id);
  const content = id === undefined ? undefined : cloudModelOf(world).object(id)?.content;
  return content !== undefined && different(content, implied.content).length > 0;
}

/** Another resource that is there names the same object or module, and has it: where each lets the other go first, none has. */
function hasRival(world: Witness, resource: Resource): boolean {
  const ids = idsNamedBy(resource);
  const paths = pathsOf(resource);
  return [...kubeModelOf(world).live.values()].some((other) => {
    if (other === resource) return false;
    const sharedIDs = idsNamedBy(other).filter((id) => ids.includes(id));
    const sharedPaths = pathsOf(other).filter((path) => paths.includes(path));
    if (sharedIDs.length + sharedPaths.length === 0) return false;
    return other.ready?.reason !== 'Conflict' || has(other, sharedIDs, sharedPaths);
  });
}

/** Another installation managed it when that one served its namespace, and does not now: a person has to say whose it is. */
function isLeftToAnother(world: Witness, resource: Resource): boolean {
  const manager = accountsOf(world).installations.get(managerOf(resource) ?? '');
  if (manager === undefined || servants(world, resource).includes(manager)) return false;
  return [...resource.versions.all, ...resource.statuses.all].some(
    ({ by = '', at }) => installationOf(by) === manager.name && manager.serves(resource, at),
  );
}

/**
 * Another installation that managed it has left its namespace, and was at work there: it put right what one that serves it had said of
 * what it manages there, or, after that, said what it says of this one, less than a day ago. That it has left can be told by nothing.
 */
export function isLeftInTrouble(world: Witness, resource: Resource): boolean {
  if (!isLeftToAnother(world, resource)) return false;
  const manager = managerOf(resource);
  const serving = servants(world, resource).map(({ name }) => name);
  const { by: last = '', at: lastAt = 0 } = resource.status ?? {};
  const saidAt = installationOf(last) === manager ? lastAt : 0;
  return [...kubeModelOf(world).live.values()].some((other) => {
    if (other.namespace !== resource.namespace || managerOf(other) !== manager) return false;
    return other.statuses.all.some(({ by = '', at }, index, all) => {
      const before = installationOf(all[index - 1]?.by ?? '') ?? '';
      const isRighted = installationOf(by) === manager && serving.includes(before);
      return isRighted && Math.max(at, saidAt) > world.scheduler.now - 24 * hour;
    });
  });
}

/** By its status. */
function has(resource: Resource, ids: readonly string[], paths: readonly string[]): boolean {
  const fields = resource.status?.fields ?? {};
  const { id, parts } = fieldsOf(fields.ownership);
  const held = [id, fields.id].map((each) => textOf(each) ?? '');
  return (
    ids.some((each) => held.includes(each)) ||
    paths.some((path) => textsOf(parts).includes(partOf(resource, path) ?? ''))
  );
}

export function pathsOf(resource: Resource): readonly string[] {
  const { kind, versions } = resource;
  return modulePaths(kind, resource.version.spec)
    .filter(({ part }) => versions.all.some((version) => names(version, part)))
    .map(({ path }) => path);
}

/** The service refused what it asks, or it asks what nobody can give. */
function isRejected(world: Witness, resource: Resource): boolean {
  if (resource.kind === 'CloudAccount') return isForbiddenHost(world, resource);
  if (hasMoved(resource) || namesAnother(world, resource) || hasEmptyReference(world, resource)) return true;
  if (isForged(resource) || isMadeElsewhere(world, resource)) return true;
  return immutableDiffers(world, resource) || isRefusedByService(world, resource);
}

/** What it asks was refused, and not taken since. */
export function isRefusedByService(world: Witness, resource: Resource): boolean {
  return isObjectRefused(world, resource) || isModuleRefused(world, resource);
}

function isObjectRefused(world: Witness, resource: Resource): boolean {
  const implied = impliedObject(resource.kind, resource.version.spec);
  if (implied === undefined) return false;
  const refusals = refusalsOf(world);
  if (refusals.creates.some((body) => asks(body, implied.create))) return true;
  const paths = idsNamedBy(resource).map((id) => `/${implied.collection}/${id}`);
  return accessesOf(world, resource).some(({ account }) =>
    paths.some((path) =>
      refusals.of(account, path).some((body) => strange(fieldsOf(parsed(body)), implied.content).length === 0),
    ),
  );
}

function isModuleRefused(world: Witness, resource: Resource): boolean {
  return modulesOf(world, resource).some(({ account, path, expected }) =>
    refusalsOf(world)
      .of(account, path)
      .some((body) => body === '' || asks(body, expected)),
  );
}

function asks(body: string, expectation: Expectation): boolean {
  const fields = fieldsOf(parsed(body));
  return strangeBesideKept(fields, expectation).length + missing(fields, expectation).length === 0;
}

function isForbiddenHost(world: Witness, { version }: Resource): boolean {
  const address = textOf(version.spec.apiURL);
  if (address === undefined) return false;
  return [...accountsOf(world).installations.values()].some((installation) => {
    const setup = installation.at(world.scheduler.now);
    const origin = URL.parse(address)?.origin ?? '';
    return serviceOf(setup?.apiURL) !== serviceOf(address) && !setup?.allowedOrigins.includes(origin);
  });
}

/** What it made is with the account that it named before; what it only began to make is no reason for one to stay that is to go. */
function hasMoved({ versions, version }: Resource): boolean {
  const isMade = ['created-id', 'applied-parts'].some((name) => version.annotations[`${domain}/${name}`] !== undefined);
  return (isMade || !version.deleting) && versions.all.some((each) => accountNameOf(each) !== accountNameOf(version));
}

/** What it made is at another service than its account is now: by its status, which stays when annotations are wiped. */
export function isMadeElsewhere(world: Witness, resource: Resource): boolean {
  const { version, status, namespace } = resource;
  const name = accountNameOf(version);
  const account = name === undefined ? undefined : kubeModelOf(world).get('CloudAccount', namespace, name);
  // Also of one that has lost its key.
  const services = servants(world, resource).map((each) =>
    serviceOf(textOf(account?.version.spec.apiURL) ?? each.at(world.scheduler.now)?.apiURL),
  );
  const recorded =
    textOf(fieldsOf(status?.fields.ownership).apiURL) ?? textOf(version.annotations[`${domain}/api-url`]);
  return recorded !== undefined && services.length > 0 && !services.includes(serviceOf(recorded));
}

/** A person wrote, or copied, what only operators write: to refuse that is safe, whatever is said of it. */
export function isForged({ versions }: Resource): boolean {
  const wishes: readonly string[] = Object.values(annotationNames);
  return versions.all.some(
    ({ by, annotations }, index) =>
      by === undefined &&
      Object.entries(annotations).some(([name, value]) => {
        const isNew = versions.all[index - 1]?.annotations[name] !== value;
        return isNew && name.startsWith(`${domain}/`) && !wishes.includes(name);
      }),
  );
}

/** It is told to take another object than the one it has. */
function namesAnother(world: Witness, resource: Resource): boolean {
  const id = externalIDOf(resource.version);
  const imported = textOf(fieldsOf(resource.status?.fields.ownership).id);
  if (id !== undefined && imported !== undefined && imported !== id) return true;
  return ownershipOf(world)
    .madeFor(resource)
    .some(({ name }) => name !== id);
}

function immutableDiffers(world: Witness, { kind, version, status }: Resource): boolean {
  if (kind !== 'ReservedAddr') return false;
  const id = externalIDOf(version) ?? textOf(status?.fields.id);
  const content = id === undefined ? undefined : cloudModelOf(world).object(id)?.content;
  return content !== undefined && content.region !== (version.spec.region ?? 'us');
}

/** Where what it made is, by its status: what is to go is deleted there, whatever its spec names by then. */
function holdingAccountOf({ version, status }: Resource): string | undefined {
  const name = textOf(fieldsOf(status?.fields.ownership).account)?.replace(/^CloudAccount\//, '');
  return version.deleting && name !== undefined && name !== 'default' ? name : accountNameOf(version);
}

/** What is referred to is there, and is empty or no policy. */
function hasEmptyReference(world: Witness, resource: Resource): boolean {
  const { now } = world.scheduler;
  return referencesOf(resource).some(({ kind, name, key }) => {
    const values = kubeModelOf(world).valuesOf(kind, resource.namespace, name, key, now, now);
    return values.some((value) => value !== undefined && (value === '' || resource.kind === 'TlsEdgeTrafficPolicy'));
  });
}

/** A Secret, ConfigMap, account or parent that is missing, or an account that is not Ready itself. */
function lacksSomething(world: Witness, resource: Resource): boolean {
  const { now } = world.scheduler;
  const kube = kubeModelOf(world);
  const isMissing = ({ kind, name, key }: Reference) =>
    kube
      .valuesOf(kind, resource.namespace, name, key, now, now)
      .some((value) => value === undefined || value.trim() === '');
  if (referencesOf(resource).some(isMissing) || isForged(resource)) return true;
  if (resource.kind === 'CloudAccount') return false;
  const isUnusable = (account: string | undefined) => {
    if (account === undefined) return servants(world, resource).some((each) => each.at(now)?.apiKey === undefined);
    const { ready, version } = kube.get('CloudAccount', resource.namespace, account) ?? {};
    return ready?.status !== 'True' || version?.deleting === true;
  };
  if (isUnusable(accountNameOf(resource.version)) || isUnusable(holdingAccountOf(resource))) return true;
  return accessesOf(world, resource).some((access) =>
    modulePaths(resource.kind, resource.version.spec).some(
      ({ path }) => refusalsOf(world).of(access.account, path).length > 0,
    ),
  );
}

/** What may be of its content in its account, and that nobody names, but for forgers. */
function unclaimedTwins(world: Witness, resource: Resource): readonly Thing[] {
  const implied = impliedObject(resource.kind, resource.version.spec);
  const honest = [...kubeModelOf(world).live.values()].filter((other) => !isForged(other));
  const named = new Set(honest.flatMap(idsNamedBy));
  const accounts = accessesOf(world, resource).map(({ account }) => account);
  return [...cloudModelOf(world).things].filter(
    ({ collection, account, content, name }) =>
      collection === implied?.collection &&
      content !== undefined &&
      !named.has(name) &&
      accounts.includes(account as AccountID),
  );
}

/** Of a create: by whose clock, what that showed, by the clock of who looks at it too, and when it really was. */
interface Mark {
  readonly byOwnClock: boolean;
  readonly showed: number;
  readonly shows: number;
  readonly at: number;
}

/** Clocks that are right differ by less. */
const skewMs = 5_000;

function markOf(world: Witness, resource: Resource): Mark | undefined {
  const written = markedVersionOf(resource);
  if (written === undefined) return undefined;
  const { at, clock } = fieldsOf(parsed(written.annotations[`${domain}/create-intent`]));
  const showed = Date.parse(textOf(at) ?? '') - epochMs;
  const shows = showed - kubeModelOf(world).skewOf(resource.status?.by ?? '');
  return { byOwnClock: clock === 'own', showed, shows, at: written.at };
}

/**
 * Which it made, or, by our own clock, whether what is there is older than the create: if that was ahead, of the service's or
 * of that by which it is looked for, it looks so.
 */
function isUnsure(twins: readonly Thing[], mark: Mark | undefined): boolean {
  if (twins.length > 1) return true;
  if (mark?.byOwnClock !== true) return false;
  const { showed, shows, at } = mark;
  const since = Math.max(at, showed - skewMs, shows - skewMs);
  return Math.abs(showed - at) > 60_000 || twins.some(({ made }) => made.at < since);
}

/** Another installation, whose account may be the same, has an open create of its content: each asks a person whose it is. */
function mayBeAnothers(world: Witness, resource: Resource, { made }: Thing): boolean {
  return [...kubeModelOf(world).live.values()].some(
    (other) =>
      other.kind === resource.kind &&
      isMarked(other.version) &&
      !isOfSameManager(resource, other) &&
      asksFor(other.kind, other.version.spec, made.body),
  );
}

function usersOf(world: Witness, { namespace, name }: Resource): readonly Resource[] {
  return [...kubeModelOf(world).live.values()].filter(
    (each) => each.namespace === namespace && each.versions.all.some((version) => accountNameOf(version) === name),
  );
}
