import type { Report } from '../core/run.ts';
import { pathsOf } from './verdicts/excuses.ts';
import { type Fault, faultsOf, isDrift, resyncMsOf, servants } from './verdicts/look.ts';
import { problemsOf } from './verdicts/status-form.ts';
import { accountsOf } from './witness/accounts.ts';
import { cloudModelOf } from './witness/cloud-model.ts';
import { disturbancesOf } from './witness/disturbances.ts';
import { canonical, parsed, textOf } from './witness/json.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { quietMomentsOf, quietMs } from './witness/quiet.ts';
import { isPaused, type Resource } from './witness/resource.ts';
import { minute, type Witness } from './witness/witness.ts';

/** Requests a minute, with which a few resources wait long. */
const poor = 10;

/** What a status says is true: in its form whenever it is written, in what it says at every quiet moment. */
export function truth(world: Witness, report: Report) {
  const say = (resource: Resource, what: string) => report('truth', `${resource.key} ${what}`);
  const hashes = new Map<string, string>();
  kubeModelOf(world).writes.add((write) => {
    const { resource, by, at } = write;
    if (resource?.status === undefined || by === undefined || resource.status.at !== at || write.deleted) return;
    const clockMs = wasClockSet(world, at) ? undefined : write.clockMs;
    for (const problem of problemsOf(resource, clockMs)) say(resource, problem);
  });
  const look = (isEnd: boolean) => {
    for (const resource of kubeModelOf(world).live.values()) {
      for (const lie of lies(world, resource, isEnd, hashes)) say(resource, `says Ready=True, but ${lie}`);
      if (isSlander(world, resource)) say(resource, `says ${resource.ready?.message}, but it is as asked`);
    }
  };
  quietMomentsOf(world).listeners.add(() => look(false));
  return { atRest: () => look(true), atEnd: () => look(true) };
}

/** Between the look at it and the write, which waits for a frozen process, a retry or a slow API server. */
function wasClockSet(world: Witness, now: number): boolean {
  return disturbancesOf(world).all.some(
    ({ name, from, to }) => name === 'clock-jumps' && from <= now && now <= to + 2 * minute,
  );
}

/** Its turn may be minutes away; how many is not for this oracle to say. */
function isPoor(world: Witness, resource: Resource): boolean {
  const [installation] = servants(world, resource);
  const access = installation && accountsOf(world).now(installation, resource);
  return access !== undefined && access.requestsPerMinute < poor;
}

function lies(world: Witness, resource: Resource, isEnd: boolean, hashes: Map<string, string>): readonly string[] {
  const { ready, version, status } = resource;
  if (ready?.status !== 'True' || version.deleting || isPaused(version)) return [];
  if (servants(world, resource).length === 0) return [];
  const { now } = world.scheduler;
  const isDisturbed = (from: number) => !isEnd && disturbancesOf(world).any(from, now);
  if (ready.observedGeneration !== version.generation) {
    const isOld = now - version.at >= quietMs && !isDisturbed(version.at) && (isEnd || !isPoor(world, resource));
    return isOld ? [`of generation ${ready.observedGeneration}, not ${version.generation}`] : [];
  }
  return [...faultsOf(world, resource), ...wrongHash(world, resource, status?.fields.appliedPolicyHash, hashes)]
    .filter((fault) => isKnowable(world, resource, fault, isDisturbed))
    .map(({ what }) => what);
}

/** That the cloud did not take a value is not said of one that it had by then. */
function isSlander(world: Witness, resource: Resource): boolean {
  const { ready, version, status } = resource;
  if (ready?.status === 'True' || ready?.message.includes('did not take') !== true) return false;
  if (ready.observedGeneration !== version.generation || servants(world, resource).length !== 1) return false;
  const faults = faultsOf(world, resource).filter(({ what }) => !what.startsWith('status'));
  const names = [...pathsOf(resource), textOf(status?.fields.id)];
  const edits = [...cloudModelOf(world).things].flatMap((thing) => (names.includes(thing.name) ? thing.edits : []));
  return faults.length === 0 && edits.every(({ at }) => at < (status?.at ?? 0));
}

/** Whether it has been so for as long as anybody could take to find out. */
function isKnowable(
  world: Witness,
  resource: Resource,
  { thing }: Fault,
  isDisturbed: (from: number) => boolean,
): boolean {
  const { now } = world.scheduler;
  const changedAt = Math.max(resource.version.at, referencesChangedAt(world, resource));
  const editedAt = thing?.edits.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
  if (now - changedAt < quietMs || isDisturbed(Math.max(changedAt, editedAt))) return false;
  // Two installations that may not see each other's resources put it back in turn.
  if (new Set(thing?.edits.flatMap((edit) => edit.installation ?? [])).size > 1) return false;
  if (thing === undefined || !isDrift(thing, servants(world, resource))) return true;
  return now - Math.max(editedAt, disturbancesOf(world).lastOver(now)) > 1.25 * resyncMsOf(world, resource) + minute;
}

/** Of all Secrets, ConfigMaps and CloudAccounts of its namespace. */
function referencesChangedAt(world: Witness, { namespace }: Resource): number {
  const kube = kubeModelOf(world);
  const accounts = [...kube.ofKind('CloudAccount')].filter((each) => each.namespace === namespace);
  return Math.max(kube.dataChangedAt(namespace), ...accounts.map(({ version, goneAt }) => goneAt ?? version.at));
}

/** Equal policies have equal hashes, and different ones others: each as it first was with a policy of the operator's own. */
function wrongHash(world: Witness, resource: Resource, hash: unknown, hashes: Map<string, string>): readonly Fault[] {
  if (resource.kind !== 'TlsEdgeTrafficPolicy') return [];
  const text = textOf(hash);
  if (text === undefined) return [{ what: 'appliedPolicyHash is missing', thing: undefined }];
  const path = `/edges/tls/${String(resource.version.spec.edgeID)}/traffic_policy`;
  const shown = servants(world, resource).flatMap((installation) => {
    const account = accountsOf(world).now(installation, resource)?.account;
    const thing = account === undefined ? undefined : cloudModelOf(world).thing(account, path);
    return thing?.content === undefined ? [] : [thing];
  });
  const policies = shown.map(({ content }) => canonical(parsed(textOf(content?.value))));
  const before = hashes.get(text);
  if (before !== undefined && policies.length > 0 && !policies.includes(before))
    return [{ what: 'appliedPolicyHash is of another policy', thing: shown[0] }];
  const [thing] = shown;
  const editedAt = thing?.edits.at(-1)?.at ?? 0;
  // What was put since the status was written, as by a key that is wrong for a minute, is not what that tells of.
  const isTold = editedAt <= (resource.status?.at ?? 0);
  const isOwn = thing !== undefined && isTold && !isDrift(thing, servants(world, resource));
  if (before === undefined && isOwn && policies.length === 1) hashes.set(text, policies[0] ?? '');
  return [];
}
