import type { Report } from '../core/run.ts';
import { wasDeniedAlone } from './verdicts/denied.ts';
import { isForged } from './verdicts/excuses.ts';
import { isLeftOnPurpose, possibleMakers, wasForgotten } from './verdicts/left-behind.ts';
import { servants } from './verdicts/look.ts';
import { areBeyondHelp } from './verdicts/strangers.ts';
import { accountsOf } from './witness/accounts.ts';
import { cloudModelOf, type Thing } from './witness/cloud-model.ts';
import { modulePaths } from './witness/implied.ts';
import { textOf } from './witness/json.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { names } from './witness/module-ownership.ts';
import { mutationsOf } from './witness/mutations.ts';
import { idsNamedBy, kindsOfCollection, ownershipOf } from './witness/ownership.ts';
import type { Resource } from './witness/resource.ts';
import type { Witness } from './witness/witness.ts';

/** At rest each resource has one object, and each object that an operator made has one resource. */
export function oneObjectEach(world: Witness, report: Report) {
  // From the beginning.
  mutationsOf(world);
  const look = () => {
    const spare = spareObjects(world);
    const told = [...spare.values()].flat();
    const leaked = leaks(world).filter((thing) => !told.includes(thing));
    for (const what of sharedObjects(world)) report('one-object-each', what);
    for (const [{ key, status }, things] of spare)
      report('one-object-each', `${key} has ${textOf(status?.fields.id)}, and besides ${listed(things)}`);
    for (const [why, things] of Map.groupBy(leaked, (thing) => madeFor(world, thing)))
      report('one-object-each', `nobody has ${listed(things)}; ${why}`);
  };
  return { atRest: look, atEnd: look };
}

const objectKinds = Object.values(kindsOfCollection);

function readyResources(world: Witness): readonly Resource[] {
  return [...kubeModelOf(world).live.values()].filter(
    ({ kind, ready, version }) => objectKinds.includes(kind) && ready?.status === 'True' && !version.deleting,
  );
}

/** Two resources that say they have the same. */
function sharedObjects(world: Witness): readonly string[] {
  const holders = new Map<string, Resource>();
  const found: string[] = [];
  for (const resource of readyResources(world)) {
    const id = textOf(resource.status?.fields.id);
    if (id === undefined || resource.version.spec.managementPolicy === 'Observe') continue;
    const other = holders.get(id);
    if (other === undefined) holders.set(id, resource);
    else if (!areBeyondHelp(world, resource, other)) found.push(`${other.key} and ${resource.key} both have ${id}`);
  }
  return found;
}

/** What was made for a resource beside the one that it has, in all accounts of all clouds together. */
function spareObjects(world: Witness): ReadonlyMap<Resource, readonly Thing[]> {
  const honest = readyResources(world).filter((resource) => !isForged(resource));
  const found = honest.map((resource) => {
    const own = ownershipOf(world).madeFor(resource).filter(isThere);
    const spare = own.filter(
      (thing) =>
        thing.name !== resource.status?.fields.id &&
        !wasForgotten(world, resource, thing) &&
        !wasDeniedAlone(world, resource, thing),
    );
    // What is in an account that it cannot reach any more may have been left there on purpose.
    const unexcused = spare.filter((thing) => isReachable(world, resource, thing) || !isLeftOnPurpose(world, thing));
    return [resource, unexcused] as const;
  });
  return new Map(found.filter(([, things]) => things.length > 0));
}

function isReachable(world: Witness, resource: Resource, { account, made }: Thing): boolean {
  const maker = made.installation === undefined ? undefined : accountsOf(world).installations.get(made.installation);
  const makers = maker === undefined ? servants(world, resource) : [maker];
  return makers.some((installation) => accountsOf(world).now(installation, resource)?.account === account);
}

const isThere = ({ gone }: Thing): boolean => gone === undefined;

/** What an operator made, is there, and belongs to nobody. */
function leaks(world: Witness): readonly Thing[] {
  const named = new Set([...kubeModelOf(world).live.values()].flatMap(idsNamedBy));
  return [...cloudModelOf(world).things]
    .filter((thing) => isThere(thing) && wasMadeByOperator(thing) && !isHeld(world, thing, named))
    .filter((thing) => !isLeftOnPurpose(world, thing));
}

function wasMadeByOperator({ collection, made, edits }: Thing): boolean {
  const by = collection === 'module' ? edits.at(-1) : made;
  return by?.installation !== undefined;
}

/** A resource that is there names it. */
function isHeld(world: Witness, { collection, name, account }: Thing, named: ReadonlySet<string>): boolean {
  if (collection !== 'module') return named.has(name);
  return moduleNamed(world, name, account);
}

function moduleNamed(world: Witness, path: string, account: Thing['account']): boolean {
  return [...kubeModelOf(world).live.values()].some(
    (resource) =>
      pathsNamedBy(resource).includes(path) &&
      [...accountsOf(world).installations.values()].some((installation) =>
        accountsOf(world)
          .during(installation, resource, resource.versions.all, [resource.createdAt, world.scheduler.now])
          .some((access) => access.account === account),
      ),
  );
}

function pathsNamedBy({ kind, version }: Resource): readonly string[] {
  return modulePaths(kind, version.spec)
    .filter(({ part }) => names(version, part))
    .map(({ path }) => path);
}

function madeFor(world: Witness, thing: Thing): string {
  const maker = ownershipOf(world).makerOf(thing);
  const makers = maker === undefined ? possibleMakers(world, thing) : [maker];
  const forWhom = makers.length === 0 ? 'nobody' : makers.map(({ key }) => key).join(' or ');
  return `made by ${thing.made.process} for ${forWhom}`;
}

const mostListed = 3;

function listed(things: readonly Thing[]): string {
  const texts = things.slice(0, mostListed).map(({ name, account }) => `${name} in ${account}`);
  const more = things.length - texts.length;
  return more > 0 ? `${texts.join(', ')} and ${more} more` : texts.join(', ');
}
