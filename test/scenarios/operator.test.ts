import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { annotation } from '../../src/operator/reconcile/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource.ts';
import { elapsedMs, quickestMs } from '../support/elapsed.ts';
import { type ProxiedRequest, startGateProxy } from '../support/gate-proxy.ts';
import { main } from '../support/main.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { inSetting, type Setting } from '../support/setting.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

/* The operator as a process: its promises about time, budget, signals, keys, leadership and flags. */

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const withSetting = (use: (setting: Setting) => Promise<void>) => inSetting(world, use);

const ready = async (operator: OperatorProcess) => {
  const url = await operator.url('health');
  await until('the operator to be ready', async () => (await fetch(`${url}/readyz`)).ok);
};

test('a ReservedAddr is Ready within 2 s of its creation, by one POST', () =>
  withSetting(async ({ namespace, cloud, start }) => {
    await ready(start());
    const create = async (index: number) => {
      cloud.clearRequests();
      const spec = { description: `fast ${index}`, metadata: 'm', region: 'eu' };
      const tookMs = await elapsedMs(async () => {
        const object = await world.reason(await world.apply('ReservedAddr', namespace, `a${index}`, spec), 'Available');
        const { id, uri, addr, host, port, region, createdAt } = object.status ?? {};
        for (const value of [id, uri, addr, host, port, region, createdAt]) expect(value).toBeTruthy();
      });
      expect(cloud.requests().map((request) => request.method)).toEqual(['POST']);
      return tookMs;
    };
    expect(await quickestMs(2_000, create)).toBeLessThan(2_000);
  }));

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

test.concurrent('a rotated key is used within 5 s', () =>
  withSetting(async ({ namespace, cloud, start }) => {
    const operator = start('--requests-per-minute', '10000');
    await ready(operator);
    const refused = async (index: number) => {
      operator.writeKey('no-such-key');
      await until(
        'the new key to be noticed',
        () => operator.logs().split('the API key changed').length === 2 * index + 2,
      );
      return world.reason(await world.apply('BotUser', namespace, `a${index}`, { name: 'a' }), 'Unauthorized');
    };
    const rotate = async (index: number) => {
      const object = await refused(index);
      return elapsedMs(async () => {
        operator.writeKey(cloud.apiKey);
        await world.reason(object, 'Available');
      });
    };
    expect(await quickestMs(5_000, rotate)).toBeLessThan(5_000);
    expect(operator.logs()).not.toContain(cloud.apiKey);
  }));

test.concurrent('a key file that comes to hold no key is an account whose key is refused', () =>
  withSetting(async ({ namespace, start }) => {
    const operator = start();
    const object = await world.apply('BotUser', namespace, 'a', { name: 'a' });
    await world.reason(object, 'Available');
    operator.writeKey('two\nlines');
    await world.reason(object, 'Unauthorized');
    const metrics = await operator.metrics();
    expect(metrics).toContain('edge_operator_cloud_account_state{account="default",state="unauthorized"} 1');
    expect(metrics).toContain('edge_operator_cloud_account_state{account="default",state="usable"} 0');
  }));

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
        await ready(other);
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
        await ready(other);
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

test.concurrent('metrics and health', () =>
  withSetting(async ({ namespace, start }) => {
    const operator = start();
    await ready(operator);
    await world.reason(await world.apply('BotUser', namespace, 'a', { name: 'a' }), 'Available');
    expect((await fetch(`${await operator.url('health')}/healthz`)).status).toBe(200);
    const text = await (await fetch(`${await operator.url('metrics')}/metrics`)).text();
    expect(text).toContain('controller_runtime_max_concurrent_reconciles{controller="botuser"} 8');
    expect(text).toMatch(/controller_runtime_reconcile_total\{controller="botuser",result="requeue_after"\} [1-9]/);
    expect(text).toMatch(/edge_operator_resources\{kind="BotUser",ready="True",reason="Available"\} 1/);
    expect(text).toMatch(
      /edge_operator_cloud_requests_total\{operation="bot_users.create",code="2xx",outcome="ok"\} 1/,
    );
    expect(text).toContain('edge_operator_cloud_rate_limit_requests{account="default"} 120');
    expect(text).toContain('workqueue_depth{name="botuser",controller="botuser"} 0');
  }));

describe('what cannot be used is one line and exit code 2', () => {
  const cases: readonly [args: string[], line: RegExp, env?: Record<string, string>][] = [
    [['--resync-interval', '5'], /--resync-interval .*"5" .*30s/],
    [['--resync-interval', '10ms'], /--resync-interval .*at least 100ms/],
    [['--api-url', 'ftp://x'], /--api-url .*"ftp:\/\/x" .*https/],
    [['--concurrency', '0'], /--concurrency .*at least 1/],
    [['--requests-per-minute', 'many'], /--requests-per-minute .*whole number/],
    [['--metrics-addr', 'nonsense'], /--metrics-addr .*host:port/],
    [['--log-level', 'loud'], /--log-level .*error, warn, info or debug/],
    [['--kubeconfig', '/nowhere/config'], /\/nowhere\/config/],
    [['--api-key-file', '/nowhere/key'], /--api-key-file.*\/nowhere\/key/],
    [['--watch-namespaces', 'A B'], /--watch-namespaces .*"A B" is no list of namespaces/],
    [['--no-such-flag'], /--no-such-flag/],
    [['--api-url', 'http://cloud'], /EDGE_OPERATOR_API_KEY holds no API key/, { EDGE_OPERATOR_API_KEY: 'two\nlines' }],
    [
      [],
      /EDGE_OPERATOR_TAKE_OVER.*"maybe" is neither on nor off: write true or false/,
      { EDGE_OPERATOR_TAKE_OVER: 'maybe' },
    ],
    [['--create-settle', '2h'], /--create-settle .*at most 1h/],
    [[], /EDGE_OPERATOR_LOG_FORMAT.*"xml" .*json or text/, { EDGE_OPERATOR_LOG_FORMAT: 'xml' }],
  ];
  test.concurrent.each(cases)('%j', async (args, line, env = {}) => {
    const kubeconfig = args.includes('--kubeconfig') ? [] : ['--kubeconfig', world.kube.kubeconfig];
    const { code, stderr } = await run([...kubeconfig, ...args], env);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(line);
    expect(code).toBe(2);
  });

  test.concurrent('a key without an address', async () => {
    const { code, stderr } = await run(['--kubeconfig', world.kube.kubeconfig], { EDGE_OPERATOR_API_KEY: 'k' });
    expect(stderr).toMatch(/^error: --api-url is needed/);
    expect(code).toBe(2);
  });

  test.concurrent('an address that is taken', async () => {
    const taken = new URL(world.cloud.url).host;
    const { code, stderr } = await run(['--kubeconfig', world.kube.kubeconfig, '--metrics-addr', taken]);
    expect(stderr).toBe(`error: --metrics-addr: cannot listen on ${taken}: the address is in use\n`);
    expect(code).toBe(2);
  });

  const unknown = { EDGE_OPERATOR_METRICS_PORT: '1' };

  test.concurrent('one address for two servers, and a variable that nobody reads', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const address = `127.0.0.1:${(free.address() as AddressInfo).port}`;
    await promisify(free.close.bind(free))();
    const { code, stderr } = await run(
      ['--kubeconfig', world.kube.kubeconfig, '--metrics-addr', address, '--health-addr', address],
      unknown,
    );
    expect(stderr).toBe(`error: --health-addr: cannot listen on ${address}: the address is in use\n`);
    expect(code).toBe(2);
  });

  test.concurrent('but of the variable alone the log tells', async () => {
    const args = ['--kubeconfig', world.kube.kubeconfig, '--metrics-addr', '0', '--health-addr', '0'];
    const child = spawn(process.execPath, [main, 'run', ...args], {
      env: { PATH: process.env.PATH, ...unknown },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'exit');
    let log = '';
    for await (const chunk of child.stderr) {
      log += chunk;
      // A second signal would end it at once.
      if (!child.killed && log.includes('"started"')) child.kill();
    }
    expect(log.indexOf('EDGE_OPERATOR_METRICS_PORT is no variable')).toBeGreaterThan(0);
    expect(await exited).toEqual([0, null]);
  });

  test.concurrent('no kubeconfig anywhere', async () => {
    const { code, stderr } = await run([], { HOME: '/nowhere' });
    expect(stderr).toBe('error: kubeconfig /nowhere/.kube/config: no such file; --kubeconfig names another\n');
    expect(code).toBe(2);
  });

  async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [main, 'run', ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return { code, stderr };
  }
});
