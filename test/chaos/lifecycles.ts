/**
 * Resources that are made, changed, deleted and made again while their objects are changed behind the operator's back,
 * the cloud and the Kubernetes API fail at random, and the operator is killed. When quiet comes each resource must have
 * exactly one object, as it asks, nothing else may be there, and nothing may be done any more.
 * `node test/chaos/lifecycles.ts [seconds] [seed] [replicas]`; TEST_KUBE_APISERVER as in the scenarios. With more than
 * one replica they elect a leader, and are frozen too. Exit code 1 on a wrong.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { orRefused, whole } from '../support/command.ts';
import { kubeconfigThrough, startGateProxy } from '../support/gate-proxy.ts';
import { type OperatorProcess, startOperatorProcess } from '../support/operator-process.ts';
import { until } from '../support/until.ts';
import { startWorld } from '../support/world.ts';
import { randomOf } from './random.ts';
import { type Deaths, Replica } from './replica.ts';
import { seed as cloudSeed, cloudSubjects, names } from './subjects.ts';
import { KubeTrouble, troubleCloud } from './trouble.ts';
import { ChaoticAgent } from './tunnels.ts';
import { use } from './user.ts';

const { seconds, seed, replicas } = orRefused(() => {
  const [forSeconds = '60', ofSeed = String(Math.floor(Math.random() * 1e9)), count = '1'] = process.argv.slice(2);
  return {
    seconds: whole('seconds', forSeconds, 1),
    seed: whole('seed', ofSeed, 0),
    replicas: whole('replicas', count, 1),
  };
});
const resyncMs = 2_000;
/** Longer than the longest backoff. */
const settleMs = 330_000;

const random = randomOf(seed);
const world = await startWorld();
world.cloud.seed(cloudSeed);
const namespace = await world.namespace();
const agent = await ChaoticAgent.start();
await world.apply('Agent', namespace, 'edge', { url: agent.url });
const subjects = [...cloudSubjects(world.cloud), agent.subject];
const kubeTrouble = new KubeTrouble(random.fork());
const proxy = await startGateProxy(world.kube.url, { intercept: kubeTrouble.intercept });
const config = kubeconfigThrough(proxy, world.kube.kubeconfig);

const operators: OperatorProcess[] = [];
const deaths: Deaths = { SIGKILL: 0, SIGTERM: 0, frozen: 0 };
const actions = { count: 0 };
const requests: Record<string, number> = {};
const wrongs: string[] = [];

function start(): OperatorProcess {
  const args = ['--watch-namespaces', namespace, '--resync-interval', `${resyncMs}ms`, '--requests-per-minute', '6000'];
  // All that may be said, in which no key may be.
  args.push('--allowed-agent-hosts', new URL(agent.url).host, '--log-level', 'debug');
  if (replicas > 1) args.push('--leader-elect', '--leader-elect-namespace', namespace);
  const options = { kubeconfig: config.path, apiURL: world.cloud.url, apiKey: world.cloud.apiKey, args };
  const operator = startOperatorProcess(options);
  operators.push(operator);
  return operator;
}

/** The journal of the cloud holds only so many. */
async function countRequests(until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    await sleep(500);
    takeRequests();
  }
}

function takeRequests(): void {
  for (const { method, headers } of world.cloud.requests()) {
    if (!String(headers['user-agent']).startsWith('edge-operator/')) continue;
    requests[method] = (requests[method] ?? 0) + 1;
  }
  world.cloud.clearRequests();
}

const resources = async () => (await Promise.all(subjects.map(({ kind }) => world.list(kind, namespace)))).flat();

function isCurrent({ metadata, status }: ManagedObject): boolean {
  const current = status?.observedGeneration === metadata.generation;
  const ready = status === undefined ? undefined : conditionOf({ metadata, status } as ManagedObject, 'Ready');
  return current && ready?.status === 'True' && metadata.deletionTimestamp === undefined;
}

/** Which tunnels ran before stays on record until the one that runs is looked at once more. */
const isTidy = ({ metadata }: ManagedObject) => !metadata.annotations?.[annotation.startedTunnel]?.includes('"before"');

function recordsOf({ kind, metadata: { name, annotations }, status }: ManagedObject): string {
  return `${kind} ${name}: ${JSON.stringify({ annotations, status })}`;
}

function describe({ kind, metadata, status }: ManagedObject): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const deleting = metadata.deletionTimestamp === undefined ? '' : ', deleting';
  return `${kind} ${metadata.name}${deleting}: ${ready?.reason}: ${ready?.message}`;
}

const confirmed = new Set<string | undefined>();

/** Whoever deleted much of the account by hand is asked whether it is gone, and says so. */
async function confirmDeleted(object: ManagedObject): Promise<void> {
  const subject = subjects.find(({ kind }) => kind === object.kind);
  const ready = object.status === undefined ? undefined : conditionOf(object, 'Ready');
  if (ready?.message.includes(annotation.reconcileAt) !== true || subject?.hasDeleted?.(object) !== true) return;
  if (confirmed.has(object.metadata.uid)) return;
  confirmed.add(object.metadata.uid);
  await world.annotate(object, { [annotation.reconcileAt]: 'it is gone' });
}

async function look(when: string): Promise<void> {
  for (const subject of subjects) {
    const found = await subject.wrongs(await world.list(subject.kind, namespace));
    wrongs.push(...found.map((wrong) => `${when}: ${wrong}`));
  }
}

/** Nothing to do: nothing is done. */
async function watchQuiet(): Promise<void> {
  const before = await resources();
  takeRequests();
  await sleep(3 * resyncMs);
  const calls = world.cloud.requests().filter(({ headers }) => String(headers['user-agent']).startsWith('edge-'));
  const mutations = calls.filter(({ method }) => method !== 'GET');
  for (const { method, path } of mutations) wrongs.push(`quiet: ${method} ${path}`);
  // A sweep for each of two kinds, and a look at each module, four times at most.
  const most = 4 * (2 + 2 * names.length);
  if (calls.length > most) wrongs.push(`quiet: ${calls.length} requests, ${most} would do`);
  const after = new Map((await resources()).map((object) => [object.metadata.uid, object]));
  for (const object of before) {
    const now = after.get(object.metadata.uid);
    if (now?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
    wrongs.push(`quiet: written: ${recordsOf(object)} to ${now && recordsOf(now)}`);
  }
}

const trouble = new AbortController();
const counting = new AbortController();
const counted = countRequests(counting.signal);
const startedAt = performance.now();
const users = subjects.flatMap((subject) =>
  names.map((name) =>
    use(world, namespace, { subject, name }, { random: random.fork(), until: trouble.signal, actions }),
  ),
);
const running = Array.from({ length: replicas }, () => new Replica(start));
const dying = running.map((replica) => replica.run(random.fork(), trouble.signal, deaths, replicas > 1));
const troubles = [
  agent.run(random.fork(), trouble.signal),
  troubleCloud(world.cloud, random.fork(), trouble.signal),
  kubeTrouble.run(proxy, trouble.signal),
];
await sleep(seconds * 1_000);
trouble.abort();
await Promise.all([...dying, ...users, ...troubles]);
const quietAt = performance.now();
const settled = async () => {
  const all = await resources();
  const waiting = all.filter((object) => !isCurrent(object) && object.metadata.deletionTimestamp === undefined);
  for (const object of waiting) await confirmDeleted(object);
  if (waiting.length > 0) throw new Error(waiting.map(describe).join('\n'));
  return all.every((object) => isCurrent(object) && isTidy(object));
};
await until('every resource to be Ready', settled, settleMs).catch((error: Error) => wrongs.push(error.message));
const settledMs = Math.round(performance.now() - quietAt);
counting.abort();
await counted;
if (wrongs.length === 0) {
  await look('settled');
  await watchQuiet();
  const all = await resources();
  await Promise.all(all.map((object) => world.delete(object)));
  const gone = async () => (await resources()).length === 0;
  await until('every resource to be gone', gone, 60_000).catch((error: Error) => wrongs.push(error.message));
  await look('deleted');
}
if (operators.some((each) => each.logs().includes(world.cloud.apiKey))) wrongs.push('the API key is in the log');
const metrics = await Promise.all(running.map(({ operator }) => operator.metrics()));
if (metrics.join('').includes(world.cloud.apiKey)) wrongs.push('the API key is in the metrics');

const ranMs = Math.round(quietAt - startedAt);
const summary = {
  seed,
  ranMs,
  settledMs,
  actions: actions.count,
  deaths,
  confirmed: confirmed.size,
  requests,
  wrongs: wrongs.length,
};
if (wrongs.length > 0) process.stdout.write(operators.map((each) => each.logs()).join('=== restarted\n'));
process.stdout.write(`${JSON.stringify(summary)}\n`);
for (const wrong of wrongs) process.stdout.write(`WRONG ${wrong}\n`);
await Promise.all(running.map(({ operator }) => operator.stop('SIGKILL')));
await proxy.close();
await agent.stop();
config.remove();
await world.stop();
process.exitCode = wrongs.length === 0 ? 0 : 1;
