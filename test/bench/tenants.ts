import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { startKubeProcess } from './kube-process.ts';

/*
 * What tenants can make the operator hold: its memory and its connections to the API server, idle and then with many
 * accounts and policies of the largest size. The embedded Kubernetes API, the cloud and the operator are a process each.
 * Linux only. Exit code 1 when that is more than is allowed.
 *
 *     node test/bench/tenants.ts [--main dist/main.js] [--accounts 800] [--namespaces 1] [--policies 60] [--policy-bytes 65000]
 */

/** One run differs from another by some 6 MB: the median is about 56. */
const allowed = { aboveIdleMB: 75, connections: 30 };

const { values } = parseArgs({
  options: {
    main: { type: 'string', default: 'dist/main.js' },
    accounts: { type: 'string', default: '800' },
    namespaces: { type: 'string', default: '1' },
    policies: { type: 'string', default: '60' },
    'policy-bytes': { type: 'string', default: '65000' },
    /** Of the operator, separated by spaces. */
    'node-flags': { type: 'string', default: '' },
  },
});
const count = {
  accounts: Number(values.accounts),
  namespaces: Number(values.namespaces),
  policies: Number(values.policies),
  policyBytes: Number(values['policy-bytes']),
};

const nodeFlags = values['node-flags'].split(' ').filter((flag) => flag !== '');
const edge = (index: number) => `edgtls_${String(index).padStart(27, '0')}`;
const namespaceOf = (index: number) => `team-${index % count.namespaces}`;
const group = '/apis/edge-operator.dev/v1alpha1';

await using stack = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'tenants-'));
stack.defer(() => rm(folder, { recursive: true, force: true }));
const file = async (name: string, text: string) => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};

const kube = await startKubeProcess(values.main);
stack.defer(() => kube.stop());
const cloud = await startCloud();
const operator = await startOperator();
const api = new Pool(new URL(kube.url).origin, { connections: 16, connect: { rejectUnauthorized: false } });
stack.defer(() => api.close());

await until('the operator to follow all kinds', async () => (await connections(operator.child)) >= 9);
await sleep(5_000);
const idle = { rssMB: await rss(operator.child), connections: await connections(operator.child) };
tell('idle', idle);

for (let index = 0; index < count.namespaces; index++)
  await post('/api/v1/namespaces', 'v1', 'Namespace', { metadata: { name: namespaceOf(index) } });
const started = performance.now();
let most = idle;
const watching = new AbortController();
const watched = watch(watching.signal);
await inTurn(count.accounts, async (index) => {
  const [namespace, name] = [namespaceOf(index), `account-${index}`];
  const stringData = { key: `tenant-key-${index}` };
  await post(`/api/v1/namespaces/${namespace}/secrets`, 'v1', 'Secret', { metadata: { name }, stringData });
  const spec = { apiKeySecretRef: { name, key: 'key' } };
  await create('CloudAccount', 'cloudaccounts', namespace, name, spec);
});
await inTurn(count.policies, async (index) => {
  const text = 'x'.repeat(count.policyBytes - 200);
  const policy = { inbound: [{ name: text, expressions: [], actions: [{ type: 'deny' }] }] };
  await create('TlsEdgeTrafficPolicy', 'tlsedgetrafficpolicies', namespaceOf(index), `policy-${index}`, {
    edgeID: edge(index),
    policy,
  });
});
await until('every resource to be looked at', async () => (await observed()) >= count.accounts + count.policies);
const tookS = (performance.now() - started) / 1_000;
tell('all looked at', { tookS: Math.round(tookS * 10) / 10, ...(await ready()) });
await sleep(15_000);
watching.abort();
await watched;
const after = { rssMB: await rss(operator.child), connections: await connections(operator.child) };
const aboveIdleMB = most.rssMB - idle.rssMB;
tell('largest on the way', { ...most, aboveIdleMB });
tell('after', { ...after, aboveIdleMB: after.rssMB - idle.rssMB, metricLines: await metricLines() });
if (aboveIdleMB > allowed.aboveIdleMB || most.connections > allowed.connections) {
  tell('more than is allowed', allowed);
  process.exitCode = 1;
}

async function startCloud() {
  const keys = [
    'main=main-key',
    ...Array.from({ length: count.accounts }, (_, index) => `a${index}=tenant-key-${index}`),
  ];
  const keyFile = await file('keys', keys.join('\n'));
  const seed = await file(
    'seed.yaml',
    JSON.stringify({ tls_edges: Array.from({ length: count.policies }, (_, index) => edge(index)) }),
  );
  const args = ['cloud', '--api-key-file', keyFile, '--seed', seed, '--rate-limit', '0'];
  return start(args, /(http:\/\/[\d.]+:\d+)/);
}

async function startOperator() {
  const key = await file('api-key', 'main-key');
  const cloudURL = cloud.found;
  const flags = [
    '--kubeconfig',
    kube.kubeconfig,
    '--api-url',
    cloudURL,
    '--api-key-file',
    key,
    '--mirror-interval',
    '0',
  ];
  const more = ['--requests-per-minute', '100000', '--metrics-addr', '127.0.0.1:0', '--health-addr', '127.0.0.1:0'];
  return start(['run', ...flags, ...more], /"serving metrics".*?"url":"([^"]+)"/, nodeFlags);
}

/** A process, and what the pattern found in what it said. */
async function start(args: readonly string[], pattern: RegExp, node: readonly string[] = []) {
  const child = spawn(process.execPath, [...node, values.main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output = (output + chunk).slice(-100_000)));
  stack.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  const found = () => {
    if (child.exitCode !== null) throw new Error(output);
    return pattern.exec(output)?.[1];
  };
  await until(`${args[0]} to start`, async () => found() !== undefined);
  return { child, found: found() as string };
}

async function create(kind: string, plural: string, namespace: string, name: string, spec: object): Promise<void> {
  const path = `${group}/namespaces/${namespace}/${plural}`;
  await post(path, 'edge-operator.dev/v1alpha1', kind, { metadata: { name }, spec });
}

async function post(path: string, apiVersion: string, kind: string, object: object): Promise<void> {
  const headers = { authorization: `Bearer ${kube.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ apiVersion, kind, ...object });
  const answer = await api.request({ method: 'POST', path, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(text);
}

async function inTurn(times: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < times; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

async function items(plural: string) {
  const headers = { authorization: `Bearer ${kube.token}` };
  const answer = await api.request({ method: 'GET', path: `${group}/${plural}`, headers });
  // biome-ignore lint/suspicious/noExplicitAny: as the server has it
  return ((await answer.body.json()) as { items: any[] }).items;
}

async function observed(): Promise<number> {
  const all = [...(await items('cloudaccounts')), ...(await items('tlsedgetrafficpolicies'))];
  return all.filter(({ status }) => status?.conditions?.length > 0).length;
}

async function ready(): Promise<Record<string, number>> {
  const reasons: Record<string, number> = {};
  for (const { kind, status } of [...(await items('cloudaccounts')), ...(await items('tlsedgetrafficpolicies'))]) {
    const reason = `${kind} ${status?.conditions?.find(({ type }: { type: string }) => type === 'Ready')?.reason}`;
    reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
  return reasons;
}

async function metricLines(): Promise<number> {
  return (await (await fetch(`${operator.found}/metrics`)).text()).split('\n').length;
}

async function rss({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]) / 1_024);
}

/** To the API server, as the system counts them. */
async function connections({ pid }: ChildProcess): Promise<number> {
  const port = Number(new URL(kube.url).port).toString(16).toUpperCase().padStart(4, '0');
  const table = await readFile('/proc/net/tcp', 'utf8');
  const inodes = table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote, state]) => remote?.endsWith(`:${port}`) && state === '01')
    .map((fields) => `socket:[${fields[9]}]`);
  const known = new Set(inodes);
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  return links.filter((link) => known.has(link)).length;
}

async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const now = { rssMB: await rss(operator.child), connections: await connections(operator.child) };
    most = { rssMB: Math.max(most.rssMB, now.rssMB), connections: Math.max(most.connections, now.connections) };
    await sleep(200);
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 300_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited too long for ${what}`);
    await sleep(100);
  }
}

function tell(what: string, figures: object): void {
  console.log(what, JSON.stringify(figures));
}
