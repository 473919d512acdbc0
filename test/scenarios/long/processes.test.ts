import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { annotation } from '../../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import { elapsedMs, quickestMs } from '../../support/elapsed.ts';
import { type ProxiedRequest, startGateProxy } from '../../support/gate-proxy.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { inSetting, type Setting } from '../../support/setting.ts';
import { until } from '../../support/until.ts';
import { startWorld, type World } from '../../support/world.ts';

/* One process after another, and beside another: signals, restarts, leadership. */

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const withSetting = (use: (setting: Setting) => Promise<void>) => inSetting(world, use);

test(
  '250 unchanged resources: three list calls a sweep, no get, no write to Kubernetes',
  () =>
    withSetting(async ({ namespace, cloud, start }) => {
      const names = Array.from({ length: 250 }, (_, index) => `r${index}`);
      await Promise.all(names.map((name) => world.apply('ReservedAddr', namespace, name, { description: name })));
      const first = start('--requests-per-minute', '100000', '--concurrency', '16');
      const settled = await until(
        'all to be Ready',
        async () => {
          const all = await world.list('ReservedAddr', namespace);
          return all.every((object) => conditionOf(object, 'Ready')?.status === 'True') && all;
        },
        60_000,
      );
      expect(cloud.requests().filter((request) => request.method === 'POST')).toHaveLength(250);
      await first.stop();

      // A restarted operator has nothing in memory: its first look is a sweep too.
      cloud.clearRequests();
      start('--resync-interval', '2s', '--requests-per-minute', '100000');
      const lists = () => cloud.requests().filter((request) => request.path === '/reserved_addrs');
      await until('three sweeps', () => lists().length >= 9, 20_000);
      const requests = cloud.requests();
      expect(
        requests.filter((request) => request.method !== 'GET' || !/^\/(reserved_addrs|bot_users)$/.test(request.path)),
      ).toEqual([]);
      const pages = lists().map((request) => request.query.before_id !== undefined);
      expect(pages.slice(0, 9)).toEqual([false, true, true, false, true, true, false, true, true]);
      const versions = (all: readonly ManagedObject[]) => all.map((object) => object.metadata.resourceVersion);
      expect(versions(await world.list('ReservedAddr', namespace))).toEqual(versions(settled));
    }),
  120_000,
);

const electing = (namespace: string) => ['--leader-elect', '--leader-elect-namespace', namespace];

test.concurrent.each([
  ['SIGTERM', '', () => []],
  ['SIGTERM', ' by a leader', electing],
  ['SIGHUP', '', () => []],
] as const)('%s: creates under way are finished and recorded%s', (signal, _, argsIn) =>
  withSetting(async ({ namespace, cloud, start }) => {
    cloud.seed({ endpoint_configurations: ['ec_a'] });
    cloud.fault('POST /** latency=3s');
    const operator = start(...argsIn(namespace));
    const objects = await Promise.all([
      world.apply('BotUser', namespace, 'bot', { name: 'slow' }),
      world.apply('ReservedAddr', namespace, 'whole', { description: 'slow' }),
      // What a create cannot ask for is for the next process to send.
      world.apply('ReservedAddr', namespace, 'begun', { endpointConfigurationID: 'ec_a' }),
    ]);
    const sent = () => cloud.requests().filter(({ method }) => method === 'POST');
    await until('the POSTs', () => sent().length === objects.length);
    expect(await operator.stop(signal)).toBe(0);
    const found = await Promise.all(objects.map((object) => world.get(object)));
    for (const each of found) {
      const { metadata: { annotations } = {}, status } = each ?? ({} as Partial<ManagedObject>);
      expect(status?.id).toMatch(/^(bot|ra)_/);
      expect(annotations?.[annotation.externalID]).toBe(status?.id);
      expect(annotations).not.toHaveProperty([annotation.createIntent]);
      expect(status?.ownership).toMatchObject({ id: status?.id, how: 'Created' });
    }
    const reasons = found.map((each) => each && conditionOf(each, 'Ready')?.reason);
    expect(reasons).toEqual(['Available', 'Available', 'Updating']);
    cloud.clearFaults();
    start(...argsIn(namespace));
    await Promise.all(objects.map((object) => world.reason(object, 'Available')));
    expect(sent()).toHaveLength(objects.length);
  }),
);

const leads = (operator: OperatorProcess) => operator.logs().includes('became the leader');

test.concurrent(
  'leader election: one leads, and the other takes over within 20 s of its death',
  () =>
    withSetting(async ({ namespace, cloud, start }) => {
      let leader = start(...electing(namespace));
      await until('a leader', () => leads(leader));
      await world.reason(await world.apply('BotUser', namespace, 'a', { name: 'a' }), 'Available');
      const tookMs = await quickestMs(20_000, async (index) => {
        const other = start(...electing(namespace));
        await other.ready();
        const before = leader;
        leader = other;
        expect(leads(other)).toBe(false);
        return elapsedMs(async () => {
          await before.stop('SIGKILL');
          await world.reason(await world.apply('BotUser', namespace, `b${index}`, { name: 'b' }), 'Available', 40_000);
        });
      });
      expect(tookMs).toBeLessThan(20_000);
      const creates = cloud.requests().filter((request) => request.method === 'POST');
      expect(creates).toHaveLength((await world.list('BotUser', namespace)).length);
    }),
  150_000,
);

test.concurrent(
  'leader election: a leader that stops hands over at once',
  () =>
    withSetting(async ({ namespace, start }) => {
      let leader = start(...electing(namespace));
      await until('a leader', () => leads(leader));
      const tookMs = await quickestMs(6_000, async () => {
        const other = start(...electing(namespace));
        await other.ready();
        const before = leader;
        leader = other;
        return elapsedMs(async () => {
          expect(await before.stop('SIGTERM')).toBe(0);
          await until('the other to lead', () => leads(other));
        });
      });
      expect(tookMs).toBeLessThan(6_000);
    }),
  90_000,
);

test.concurrent(
  'leader election: a leader that was frozen past its deadline starts no call when it wakes, and ends',
  () =>
    withSetting(async ({ namespace, cloud, start }) => {
      const seen: string[] = [];
      const intercept = async ({ method, path }: ProxiedRequest) => void seen.push(`${method} ${path}`);
      const proxy = await startGateProxy(cloud.url, { intercept });
      const resync = ['--resync-interval', '1s', '--requests-per-minute', '10000'];
      const first = start(...electing(namespace), ...resync, '--api-url', proxy.url);
      await until('a leader', () => leads(first));
      await world.reason(await world.apply('BotUser', namespace, 'a', { name: 'a' }), 'Available');
      await until('its checks', () => seen.length > 3);
      first.signal('SIGSTOP');
      const second = start(...electing(namespace));
      await until('the other to lead', () => leads(second), 40_000);
      await world.reason(await world.apply('BotUser', namespace, 'b', { name: 'b' }), 'Available');
      seen.length = 0;
      first.signal('SIGCONT');
      expect(await first.exited).toBe(1);
      expect(seen).toEqual([]);
      expect(first.logs()).toContain('lost leadership');
      // The last word is of the log, too: whoever collects that reads JSON.
      const last = JSON.parse(first.logs().trim().split('\n').at(-1) ?? '');
      expect(last).toMatchObject({ level: 'error', error: { message: expect.stringContaining('must start afresh') } });
      await proxy.close();
    }),
  90_000,
);
