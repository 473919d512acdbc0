import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent, type Dispatcher } from 'undici';
import { silentLog } from '../../src/common/log.ts';
import { type Runtime, systemRuntime } from '../../src/common/runtime.ts';
import { leaseType } from '../../src/operator/controller/lease.ts';
import { type EventObject, eventType } from '../../src/operator/kube/event-object.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { parseSettings } from '../../src/operator/settings.ts';
import { startWorld, type World } from '../support/world.ts';

/* An operator within this process that finds neither its time nor its names nor its network by itself. */

const years = 10 * 365 * 86_400_000;

let world: World;
let dir: string;
beforeAll(async () => {
  [world, dir] = await Promise.all([startWorld(), mkdtemp(join(tmpdir(), 'runtime-'))]);
});
afterAll(async () => {
  await world.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Where the names lead that no resolver knows. */
function carrier(hosts: Readonly<Record<string, string>>): Dispatcher {
  return new Agent({ connect: { rejectUnauthorized: false } }).compose((dispatch) => (options, handler) => {
    const origin = hosts[String(options.origin)];
    if (origin === undefined) throw new Error(`a request to ${String(options.origin)}`);
    return dispatch({ ...options, origin }, handler);
  });
}

test('the operator lives in the runtime that it is given', async () => {
  const { kube, cloud } = world;
  const kubeconfig = join(dir, 'kubeconfig');
  const real = await readFile(kube.kubeconfig, 'utf8');
  await writeFile(kubeconfig, real.replace(/(server"?: *"?)https:[^\s",]+/, '$1https://kube.invalid'));
  const dispatcher = carrier({ 'https://kube.invalid': new URL(kube.url).origin, 'http://cloud.invalid': cloud.url });
  let ids = 0;
  const runtime: Runtime = {
    ...systemRuntime,
    clock: { ...systemRuntime.clock, now: () => Date.now() + years },
    random: () => 0.5,
    uuid: () => `id-${ids++}`,
    hostname: 'nowhere',
    dispatcher,
  };
  const settings = parseSettings({
    kubeconfig,
    apiUrl: 'http://cloud.invalid',
    metricsAddr: '127.0.0.1:0',
    healthAddr: '127.0.0.1:0',
    leaderElect: true,
  });
  const stop = new AbortController();
  const running = runOperator({ settings, apiKey: cloud.apiKey, log: silentLog, runtime }, stop.signal);
  const namespace = await world.namespace();
  const made = await world.apply('ReservedAddr', namespace, 'a', { region: 'eu' });
  const object = await world.reason(made, 'Available');
  const lease = await world.client.get(leaseType, { namespace: 'default', name: 'edge-operator' });
  stop.abort();
  await running;
  const events = await world.client.listAll<EventObject>(eventType, { namespace });
  await dispatcher.close();
  expect(lease).toMatchObject({ spec: { holderIdentity: 'nowhere_id-0' } });
  expect(events.items.map((event) => event.reportingInstance)).toContain('nowhere');
  const [condition] = object.status?.conditions ?? [];
  expect(Date.parse(condition?.lastTransitionTime ?? '')).toBeGreaterThan(Date.now() + years / 2);
});
