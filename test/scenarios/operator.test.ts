import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { elapsedMs, quickestMs } from '../support/elapsed.ts';
import { inSetting, type Setting } from '../support/setting.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

/* The operator as a process: how soon it is done, its key, what it serves. */

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const withSetting = (use: (setting: Setting) => Promise<void>) => inSetting(world, use);

test('a ReservedAddr is Ready within 2 s of its creation, by one POST', () =>
  withSetting(async ({ namespace, cloud, start }) => {
    await start().ready();
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

test.concurrent('a rotated key is used within 5 s', () =>
  withSetting(async ({ namespace, cloud, start }) => {
    const operator = start('--requests-per-minute', '10000');
    await operator.ready();
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

test.concurrent('metrics and health', () =>
  withSetting(async ({ namespace, start }) => {
    const operator = start();
    await operator.ready();
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
