import { accountsOf } from '../witness/accounts.ts';
import { cloudModelOf } from '../witness/cloud-model.ts';
import { impliedObject, modulePaths } from '../witness/implied.ts';
import type { InstallationHistory } from '../witness/installations.ts';
import { fieldsOf } from '../witness/json.ts';
import type { AccountID } from '../witness/keys.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { names } from '../witness/module-ownership.ts';
import { isPaused, type Resource } from '../witness/resource.ts';
import { minute, second, type Witness } from '../witness/witness.ts';

const pageSize = 100;
/** The longest pause between two tries of what is not as it should be. */
const backoffMs = 5 * minute;
const rareMs = 10 * minute;
const collections = ['reserved_addrs', 'bot_users'] as const;
/** Those of which time alone may bring the end. */
const hopeful = [
  'Unreachable',
  'DependencyNotReady',
  'RateLimited',
  'Creating',
  'Updating',
  'Deleting',
  'Unauthorized',
];

/** How many reads of an account suffice for a time in which nothing changes; generously. */
export function needOf(world: Witness, installation: InstallationHistory, account: AccountID, spanMs: number): number {
  const setup = installation.at(world.scheduler.now);
  const resyncMs = setup?.resyncMs ?? minute;
  const intervalOf = ({ version }: Resource) => {
    const seconds = version.spec.resyncIntervalSeconds;
    return typeof seconds === 'number' ? seconds * second : resyncMs;
  };
  const rounds = (intervalMs: number) => Math.ceil(spanMs / intervalMs) + 1;
  const users = [...kubeModelOf(world).live.values()].filter(
    (each) => !isPaused(each.version) && accountsOf(world).now(installation, each)?.account === account,
  );
  const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
  const lists = collections.map((collection) => {
    const intervals = new Set(users.filter((each) => collectionOf(each) === collection).map(intervalOf));
    return sum([...intervals].map(rounds)) * pagesOf(world, account, collection);
  });
  const singles = users.map((each) => rounds(singlyReadEvery(each, intervalOf(each))) * singleReadsOf(each));
  const tries = users.filter(({ ready }) => hopeful.includes(ready?.reason ?? '')).map(() => 4 * rounds(backoffMs));
  const refused = users.filter(({ ready }) => ready?.reason === 'Rejected').map(() => 2 * rounds(2 * backoffMs));
  const mirrors = users.map(({ kind, version }) => {
    const { enabled = true, intervalSeconds = 30 } = fieldsOf(version.spec.endpointMirror);
    const isMirrored = kind === 'CloudAccount' && version.spec.endpointMirror !== undefined && enabled === true;
    return isMirrored ? rounds(Number(intervalSeconds) * second) : 0;
  });
  const mirror = setup !== undefined && setup.mirrorMs > 0 ? rounds(setup.mirrorMs) : 0;
  return 10 + 1.25 * (sum([...lists, ...singles, ...tries, ...refused, ...mirrors]) + mirror + rounds(resyncMs));
}

function pagesOf(world: Witness, account: AccountID, collection: string): number {
  return Math.max(1, Math.ceil(cloudModelOf(world).count(account, collection) / pageSize));
}

const collectionOf = ({ kind, version }: Pick<Resource, 'kind' | 'version'>): string | undefined =>
  impliedObject(kind, version.spec)?.collection;

/**
 * Of what was not there, a list would show that it came: however often that is read, single reads need be rare. What a list
 * shows otherwise than asked is read at each check.
 */
function singlyReadEvery(resource: Resource, intervalMs: number): number {
  const isOfList = collectionOf(resource) !== undefined && resource.ready?.reason !== 'DriftDetected';
  return isOfList ? Math.max(intervalMs, rareMs) : intervalMs;
}

/** What no list shows: modules, accounts, and objects that are not there. */
function singleReadsOf({ kind, version, ready }: Resource): number {
  if (kind === 'CloudAccount') return 1;
  if (collectionOf({ kind, version }) !== undefined) return ready?.status === 'True' ? 0 : 1;
  return modulePaths(kind, version.spec).filter(({ part }) => names(version, part)).length;
}
