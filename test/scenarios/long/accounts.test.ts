import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ConfigMap, configMapType } from '../../../src/operator/mirror/config-map.ts';
import { annotation } from '../../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import { elapsedMs, quickestMs } from '../../support/elapsed.ts';
import { hasKubectl, kubectl } from '../../support/kubectl.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { until } from '../../support/until.ts';
import { secretMark, startWorld, type World } from '../../support/world.ts';
import { type AccountSetting, accountsIn, botsIn, checks, keys, mutations, ref } from './account-setting.ts';

const wrongKey = `${secretMark}-wrong`;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());
const { withSetting, troubled, botOf } = accountsIn(() => world);

describe('side by side', () => {
  test.concurrent('accounts have keys and addresses of their own, and the default one needs no CloudAccount', () =>
    withSetting(async ({ cloud, another, start, account, bot, writeSecret }) => {
      const other = await another();
      start('--allowed-api-hosts', other.url);
      await writeSecret(keys[0]);
      const here = await account({}, 'here');
      const there = await account({ apiURL: `${other.url}/` }, 'there');
      await bot('none', { name: 'by default', accountRef: undefined });
      await bot('one', { name: 'here', accountRef: { name: 'here' } });
      await bot('two', { name: 'there', accountRef: { name: 'there' } });
      for (const name of ['none', 'one', 'two']) await world.reason(await botOf(here, name), 'Available');
      expect(await botsIn(cloud, cloud.apiKey)).toEqual(['by default']);
      expect(await botsIn(cloud)).toEqual(['here']);
      expect(await botsIn(other)).toEqual(['there']);
      expect((await world.reason(here, 'Available')).status).toMatchObject({
        apiURL: cloud.url,
        reachable: true,
        authenticated: true,
      });
      expect((await world.reason(there, 'Available')).status?.apiURL).toBe(`${other.url}/`);
    }));

  test.concurrent('each has a budget of its own; a changed one is in force at once', () =>
    withSetting(async ({ namespace, cloud, another, start, account, bot, writeSecret }) => {
      const other = await another();
      const operator = start('--allowed-api-hosts', other.url);
      await writeSecret(keys[0]);
      const tight = await account({ requestsPerMinute: 4 }, 'tight');
      await account({ apiURL: other.url, requestsPerMinute: 1_000 }, 'ample');
      await world.reason(tight, 'Available');
      const names = Array.from({ length: 6 }, (_, index) => `b${index}`);
      for (const name of names) await bot(name, { name, accountRef: { name: 'tight' } });
      for (const name of names) await bot(`o-${name}`, { name, accountRef: { name: 'ample' } });
      for (const name of names) await world.reason(await botOf(tight, `o-${name}`), 'Available');
      await until('the tight budget to be used up', () => cloud.requests().length === 4);
      expect(await operator.metrics()).toContain(
        `edge_operator_cloud_rate_limit_requests{account="${namespace}/tight"} 4`,
      );
      expect(cloud.requests()).toHaveLength(4);
      await account({ requestsPerMinute: 1_000 }, 'tight');
      for (const name of names) await world.reason(await botOf(tight, name), 'Available');
      expect(await botsIn(cloud)).toEqual(names);
    }));
});

test.concurrent('who waits for the budget of an account that was applied with it is not told of its first check', () =>
  withSetting(async ({ cloud, start, account, bot, writeSecret }) => {
    start();
    await writeSecret(keys[0]);
    const names = Array.from({ length: 4 }, (_, index) => `b${index}`);
    const tight = await account({ requestsPerMinute: 3 }, 'tight');
    await Promise.all(names.map((name) => bot(name, { name, accountRef: { name: 'tight' } })));
    await world.reason(tight, 'Available');
    const reasons = async () => {
      const bots = await Promise.all(names.map((name) => botOf(tight, name)));
      return bots.flatMap((each) => conditionOf(each, 'Ready')?.reason ?? []);
    };
    await until('the budget to be used up', () => cloud.requests().length === 3);
    await until('one to be Ready', async () => (await reasons()).includes('Available'));
    expect(new Set(await reasons())).toEqual(new Set(['Available']));
  }));

test.concurrent('accounts of one key: each stays within its own budget, which takes nothing from the others', () =>
  withSetting(async ({ namespace, cloud, start, account, bot, writeSecret }) => {
    const operator = start();
    await writeSecret(keys[0]);
    const low = await account({ requestsPerMinute: 3 }, 'low');
    const high = await account({ requestsPerMinute: 1_000 }, 'high');
    await Promise.all([world.reason(low, 'Available'), world.reason(high, 'Available')]);
    const names = Array.from({ length: 8 }, (_, index) => `b${index}`);
    const isLow = (index: number) => index % 2 === 0;
    await Promise.all(
      names.map((name, index) => bot(name, { name, accountRef: { name: isLow(index) ? 'low' : 'high' } })),
    );
    for (const [index, name] of names.entries())
      if (!isLow(index)) await world.reason(await botOf(high, name), 'Available');
    const used = `edge_operator_cloud_rate_limit_used_requests{account="${namespace}/low"} 3`;
    await until('the budget to be used up', async () => (await operator.metrics()).includes(used));
    await until('what was let through to arrive', () => cloud.requests().length >= 8);
    expect(cloud.requests()).toHaveLength(8);
    await account({ requestsPerMinute: 1_000 }, 'low');
    for (const name of names) await world.reason(await botOf(low, name), 'Available');
    expect(await botsIn(cloud)).toEqual(names);
  }));

describe('another accountRef', () => {
  test.concurrent('is refused once the resource has made something: it would be left behind in the account before', () =>
    withSetting(async ({ cloud, start, account, bot, writeSecret }) => {
      start();
      await writeSecret(keys[0]);
      const acct = await account();
      const made = await world.reason(await bot('a', { accountRef: undefined }), 'Available');
      const moved = await world.reason(await bot('a'), 'Rejected');
      expect(conditionOf(moved, 'Ready')?.message).toMatch(/^spec.accountRef: .* the default account: set it back/);
      expect(moved.status?.id).toBe(made.status?.id);
      await world.delete(acct);
      await world.gone(acct);
      await world.delete(moved);
      await world.gone(moved);
      expect([...(await botsIn(cloud, cloud.apiKey)), ...(await botsIn(cloud))]).toEqual([]);
      expect(mutations(cloud).map(({ method }) => method)).toEqual(['POST', 'DELETE']);
    }));

  test.concurrent('is refused of modules too, and the account before is held until they are gone', () =>
    withSetting(async ({ namespace, cloud, start, account, writeSecret }) => {
      start();
      cloud.server.seed({ accounts: ['tenant'], https_edges: [{ id: 'edghts_1', routes: ['edghtsrt_1'] }] });
      await writeSecret(keys[0]);
      const acct = await account();
      const spec = { edgeID: 'edghts_1', routeID: 'edghtsrt_1', compression: {} };
      const apply = (more: object) => world.apply('HttpsRouteModules', namespace, 'a', { ...spec, ...more });
      await world.reason(await apply({ accountRef: { name: 'acct' } }), 'Available');
      const moved = await world.reason(await apply({}), 'Rejected');
      await world.delete(acct);
      await troubled(acct, 'Deleting', /HttpsRouteModules a/);
      await world.delete(moved);
      await world.gone(moved);
      await world.gone(acct);
      expect(mutations(cloud).map(({ method }) => method)).toEqual(['PUT', 'DELETE']);
    }));

  test.concurrent('is taken while nothing was made', () =>
    withSetting(async ({ cloud, start, account, bot, writeSecret }) => {
      start();
      await writeSecret(keys[0]);
      await account();
      await world.reason(await bot('a', { accountRef: { name: 'typo' } }), 'DependencyNotReady');
      await world.reason(await bot('a'), 'Available');
      expect(await botsIn(cloud)).toEqual(['a bot']);
    }));
});

describe('trouble', () => {
  test.concurrent('is not told where there is none: all applied at once, all deleted at once', () =>
    withSetting(async ({ start, account, bot, writeSecret, deleteSecret }) => {
      start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const objects = await Promise.all([account(), bot('a'), bot('b'), bot('c')]);
      for (const object of objects) await world.reason(object, 'Available');
      await Promise.all([deleteSecret(), ...objects.map((object) => world.delete(object))]);
      for (const object of objects) await world.gone(object);
      for (const object of objects.slice(1)) await world.eventsOf(object, 'Deleted');
      const events = (await Promise.all(objects.map((object) => world.events(object)))).flat();
      expect(events.filter(({ type }) => type === 'Warning').map(({ note }) => note)).toEqual([]);
    }));

  test.concurrent('shows on the users with the account and the cause, and heals at once', () =>
    withSetting(async ({ namespace, start, account, bot, writeSecret, deleteSecret }) => {
      start('--resync-interval', '1h');
      const named = `CloudAccount ${namespace}/acct`;
      const a = await bot('a');
      await troubled(a, 'DependencyNotReady', new RegExp(`^${named} does not exist$`));

      const acct = await account();
      await troubled(acct, 'DependencyNotReady', new RegExp(`^Secret ${namespace}/keys does not exist$`));
      await troubled(
        a,
        'DependencyNotReady',
        new RegExp(`^${named} cannot be used: Secret ${namespace}/keys does not exist`),
      );

      await writeSecret('one\ntwo');
      await troubled(
        acct,
        'DependencyNotReady',
        /^Secret .*\/keys: the value of "[^"]+" is no API key: a key is one line/,
      );

      await writeSecret(wrongKey);
      await troubled(acct, 'Unauthorized', /replace the API key/);
      expect((await world.get(acct))?.status).toMatchObject({ reachable: true, authenticated: false });
      await troubled(a, 'DependencyNotReady', new RegExp(`^${named} is not Ready: Unauthorized: `));

      const heal = async (index: number) => {
        if (index > 0) {
          await writeSecret(wrongKey);
          await troubled(a, 'DependencyNotReady', /Unauthorized/);
        }
        return elapsedMs(async () => {
          await writeSecret(keys[0]);
          await world.reason(a, 'Available');
        });
      };
      expect(await quickestMs(5_000, heal)).toBeLessThan(5_000);

      await deleteSecret();
      await troubled(a, 'DependencyNotReady', /Secret .* does not exist/);
      await writeSecret(keys[0]);
      await world.reason(a, 'Available');
    }));

  test.concurrent('a server that does not answer', () =>
    withSetting(async ({ cloud, start, account, bot, writeSecret }) => {
      start('--resync-interval', '1h');
      cloud.fault('GET /bot_users reset');
      await writeSecret(keys[0]);
      const acct = await account();
      const a = await bot('a');
      await troubled(acct, 'Unreachable', /bot_users\.list/);
      expect((await world.get(acct))?.status).toMatchObject({ reachable: false });
      await troubled(a, 'DependencyNotReady', /is not Ready: Unreachable/);
      cloud.clearFaults();
      await world.reason(a, 'Available');
    }));

  test.concurrent('a key that a user finds refused is told of by the account at once, not at its next check', () =>
    withSetting(async ({ cloud, start, account, bot, writeSecret }) => {
      start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const [acct, a] = [await account(), await bot('a')];
      await world.reason(a, 'Available');
      cloud.fault('* /** status=401');
      await bot('a', { name: 'renamed' });
      await troubled(acct, 'Unauthorized', /401/);
      await troubled(a, 'DependencyNotReady', /is not Ready: Unauthorized/);
    }));

  test.concurrent.each(['resource', 'account'])(
    'a key that is taken again is found out at once by who asks on its %s',
    (where) =>
      withSetting(async ({ cloud, start, account, bot, writeSecret }) => {
        start('--resync-interval', '1h');
        await writeSecret(keys[0]);
        cloud.fault('* /** status=401');
        const [acct, a] = [await account(), await bot('a')];
        await troubled(acct, 'Unauthorized', /401/);
        await troubled(a, 'DependencyNotReady', /is not Ready: Unauthorized/);
        cloud.clearFaults();
        const before = cloud.requests().length;
        await world.annotate(where === 'account' ? acct : a, { [annotation.reconcileAt]: 'now' });
        // By itself it would be tried after ten.
        expect(await elapsedMs(() => world.reason(a, 'Available'))).toBeLessThan(7_000);
        expect(
          cloud
            .requests()
            .slice(before)
            .map(({ status }) => status),
        ).not.toContain(401);
      }),
  );
});

test.concurrent('a rotated key is in use within 5 s', () =>
  withSetting(async ({ cloud, start, account, bot, writeSecret }) => {
    start('--resync-interval', '1h');
    await writeSecret(keys[0]);
    const [acct, a] = [await account(), await bot('a')];
    await world.reason(a, 'Available');
    const refused = async () => {
      await writeSecret(wrongKey);
      await world.reason(acct, 'Unauthorized');
      await troubled(a, 'DependencyNotReady', /Unauthorized/);
    };
    const accepted = async (name: string) => {
      await writeSecret(keys[1]);
      await world.reason(await bot('a', { name }), 'Available');
      expect(await botsIn(cloud)).toEqual([name]);
    };
    const rotate = async (index: number) =>
      Math.max(await elapsedMs(refused), await elapsedMs(() => accepted(`renamed ${index}`)));
    expect(await quickestMs(5_000, rotate)).toBeLessThan(5_000);

    // Another Secret is another key, too.
    await world.apply('CloudAccount', acct.metadata.namespace ?? '', 'acct', {
      apiKeySecretRef: { name: 'others', key: ref.key },
    });
    await troubled(a, 'DependencyNotReady', /others does not exist/);
    await writeSecret(keys[0], 'others');
    await world.reason(a, 'Available');
  }));

describe('addresses', () => {
  test.concurrent('a host that is not allowed gets not one request', () =>
    withSetting(async ({ another, start, account, bot, writeSecret }) => {
      const other = await another();
      start();
      await writeSecret(keys[0]);
      const acct = await account({ apiURL: other.url });
      const refused = await world.reason(acct, 'Rejected');
      expect(conditionOf(refused, 'Stalled')?.status).toBe('True');
      expect(conditionOf(refused, 'Ready')?.message).toMatch(
        new RegExp(`spec\\.apiURL: the host ${new URL(other.url).host} .*--allowed-api-hosts`),
      );
      const a = await bot('a');
      await troubled(
        a,
        'DependencyNotReady',
        /CloudAccount .* cannot be used: spec\.apiURL: the host .*--allowed-api-hosts/,
      );
      expect(other.requests()).toEqual([]);
      await account({});
      await world.reason(a, 'Available');
      expect(other.requests()).toEqual([]);
    }));

  test.concurrent.each([
    ['ftp://api.example.com'],
    ['api.example.com'],
    ['https://me@api.example.com'],
    ['https://api.example.com?x=1'],
  ])('the API server refuses %s', (apiURL) =>
    withSetting(async ({ account }) => {
      await expect(account({ apiURL })).rejects.toThrow(/spec\.apiURL/);
    }),
  );
});

describe('checks', () => {
  test.concurrent('one request an interval, and no write while nothing changes', () =>
    withSetting(async ({ cloud, start, account, writeSecret }) => {
      start('--resync-interval', '1s', '--requests-per-minute', '10000');
      await writeSecret(keys[0]);
      const before = await world.reason(await account(), 'Available');
      cloud.clearRequests();
      const since = performance.now();
      await until('six checks', () => checks(cloud).length >= 6);
      // Of about 5 s: a busy machine may bring the first of them late.
      expect(performance.now() - since).toBeGreaterThan(3_000);
      expect(cloud.requests()).toHaveLength(checks(cloud).length);
      expect((await world.get(before))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    }));

  test.concurrent('paused: none until the annotation goes; reconcile-at asks for one and is echoed', () =>
    withSetting(async ({ namespace, cloud, start, writeSecret, bot }) => {
      start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const spec = { apiKeySecretRef: ref };
      const acct = await world.apply('CloudAccount', namespace, 'acct', spec, { [annotation.paused]: 'true' });
      await world.reason(acct, 'Paused');
      await troubled(await bot('a'), 'DependencyNotReady', /is paused/);
      expect(cloud.requests()).toEqual([]);
      await world.annotate(acct, { [annotation.paused]: null });
      await world.reason(acct, 'Available');
      await world.reason(await botOf(acct, 'a'), 'Available');
      cloud.clearRequests();
      await world.annotate(acct, { [annotation.reconcileAt]: 'now' });
      await until('the echo', async () => (await world.get(acct))?.status?.lastHandledReconcileAt === 'now');
      expect(checks(cloud)).toHaveLength(1);
    }));
});

test.concurrent('no account and no Secret of another namespace can be used', () =>
  withSetting(async ({ namespace, cloud, start, account, writeSecret }) => {
    const foreign = await world.namespace();
    start('--watch-namespaces', `${namespace},${foreign}`);
    await writeSecret(keys[0]);
    await world.reason(await account(), 'Available');
    cloud.clearRequests();
    const names = ['acct', `${namespace}/acct`, `../${namespace}/acct`];
    for (const [index, name] of names.entries()) {
      const thief = await world.apply('BotUser', foreign, `thief-${index}`, { name: 'x', accountRef: { name } });
      await troubled(thief, 'DependencyNotReady', /does not exist/);
    }
    const acct = await world.apply('CloudAccount', foreign, 'acct', { apiKeySecretRef: ref });
    await troubled(acct, 'DependencyNotReady', new RegExp(`Secret ${foreign}/keys does not exist`));
    expect(cloud.requests()).toEqual([]);
    const apiKeySecretRef = { ...ref, name: `${namespace}/keys` };
    await expect(world.apply('CloudAccount', foreign, 'b', { apiKeySecretRef })).rejects.toThrow(
      /apiKeySecretRef\.name/,
    );
  }));

test('shards: replicas share the accounts out, those of one key are with one, and go to the other when it ends', () =>
  withSetting(async ({ namespace, cloud, start, account, bot, writeSecret }) => {
    const election = ['--leader-elect', '--leader-elect-namespace', namespace, '--shards', '4'];
    const replicas = [1, 2].map(() => start(...election, '--resync-interval', '1h'));
    const held = async (operator: OperatorProcess) =>
      (await operator.metrics()).match(/^edge_operator_shard_held\{shard="\d"\} 1$/gm)?.length ?? 0;
    const all = async (value: (operator: OperatorProcess) => Promise<number | boolean>) =>
      (await Promise.all(replicas.map(value))).map(Number).sort().join();
    await until('two shards each', async () => (await all(held)) === '2,2', 40_000);
    await writeSecret(keys[0]);
    const { metadata } = await account();
    const names = ['second', 'third', 'fourth'];
    for (const name of names) await world.apply('CloudAccount', namespace, name, { apiKeySecretRef: ref });
    await world.reason(await bot('a'), 'Available');
    for (const name of names) {
      const spec = { name: `of ${name}`, accountRef: { name } };
      await world.reason(await world.apply('BotUser', namespace, name, spec), 'Available');
    }
    const users = [metadata.name, ...names].map((name) => `${namespace}/${name}`);
    const has = async (operator: OperatorProcess) => {
      const text = await operator.metrics();
      return users.filter((user) => text.includes(`account_state{account="${user}",state="usable"} 1`)).length;
    };
    expect(await all(has)).toBe('0,4');
    const [one] = replicas;
    const [user, other] = (await has(one as OperatorProcess)) === 4 ? replicas : replicas.toReversed();
    expect(await user?.stop('SIGTERM')).toBe(0);
    await world.reason(await bot('b'), 'Available');
    await until('four shards', async () => (await held(other as OperatorProcess)) === 4);
    expect(cloud.requests().filter(({ method }) => method === 'POST')).toHaveLength(5);
    expect(await botsIn(cloud)).toHaveLength(5);
  }));

describe('what waits for its turn', () => {
  const names = ['b0', 'b1', 'b2', 'b3', 'b4'];

  /** An account whose budget its users have used up, and some of them wait. */
  async function usedUp({ cloud, start, account, bot, writeSecret }: AccountSetting): Promise<ManagedObject> {
    start('--resync-interval', '1h');
    await writeSecret(keys[0]);
    const acct = await account({ requestsPerMinute: 4 });
    await world.reason(acct, 'Available');
    for (const name of names) await bot(name, { name });
    await until('the budget to be used up', () => cloud.requests().length === 4);
    return acct;
  }

  test.concurrent('is not sent while the account is paused, nor is a delete', () =>
    withSetting(async (setting) => {
      const { cloud, account } = setting;
      const acct = await usedUp(setting);
      await world.annotate(acct, { [annotation.paused]: 'true' });
      await world.reason(acct, 'Paused');
      const made = await botsIn(cloud);
      // A greater budget, in which all that waits is sent at once.
      await account({ requestsPerMinute: 1_000 });
      await world.reason(acct, 'Paused');
      const b0 = await botOf(acct, made[0] as string);
      await world.delete(b0);
      await troubled(b0, 'DependencyNotReady', /^deleting: CloudAccount .* is paused/);
      for (const name of names) await troubled(await botOf(acct, name), 'DependencyNotReady', /is paused/);
      expect(await botsIn(cloud)).toEqual(made);
      await world.annotate(acct, { [annotation.paused]: null });
      await world.gone(b0);
      for (const name of names.slice(1)) await world.reason(await botOf(acct, name), 'Available');
    }));

  test.concurrent('is not sent with a key that was withdrawn meanwhile', () =>
    withSetting(async (setting) => {
      const { cloud, account, writeSecret, deleteSecret } = setting;
      const acct = await usedUp(setting);
      await deleteSecret();
      await troubled(acct, 'DependencyNotReady', /Secret .* does not exist/);
      const made = await botsIn(cloud);
      await account({ requestsPerMinute: 1_000 });
      for (const name of names)
        await troubled(await botOf(acct, name), 'DependencyNotReady', /Secret .* does not exist/);
      expect(await botsIn(cloud)).toEqual(made);
      await writeSecret(keys[0]);
      for (const name of names) await world.reason(await botOf(acct, name), 'Available');
      expect(await botsIn(cloud)).toEqual(names);
    }));
});

describe('endpoint mirrors', () => {
  const endpoint = (id: string, proto: 'tcp' | 'https') => ({
    id,
    public_url: `${proto}://${id}.example.test`,
    proto,
    hostport: `${id}.example.test:443`,
    type: 'ephemeral' as const,
    tunnel: 'tn_1',
  });
  const endpoints = [endpoint('ep_a', 'tcp'), endpoint('ep_b', 'tcp'), endpoint('ep_c', 'https')];
  const configMaps = async (namespace: string) => {
    const selection = { namespace, labelSelector: 'edge-operator.dev/mirror=endpoints' };
    return (await world.client.listAll<ConfigMap>(configMapType, selection)).items;
  };
  const mirrored = async (namespace: string) => (await configMaps(namespace)).map(({ data }) => data?.id).sort();

  test.concurrent('a CloudAccount mirrors into its own namespace, as its spec says, and takes its ConfigMaps along', () =>
    withSetting(async ({ namespace, cloud, start, account, writeSecret }) => {
      cloud.seed({ accounts: ['tenant'], endpoints });
      const first = start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const acct = await account({ endpointMirror: { intervalSeconds: 10, protocols: ['tcp'] } });
      const shown = await until('the status to tell', async () => {
        const found = await world.get(acct);
        return found !== undefined && conditionOf(found, 'EndpointsMirrored')?.status === 'True' && found;
      });
      expect(shown.status?.endpointsMirrored).toBe(2);
      expect(await mirrored(namespace)).toEqual(['ep_a', 'ep_b']);
      expect(await first.metrics()).toContain(`edge_operator_mirrored_endpoints{account="${namespace}/acct"} 2`);
      for (const { metadata } of await configMaps(namespace))
        expect(metadata.ownerReferences).toEqual([
          { apiVersion: acct.apiVersion, kind: acct.kind, name: acct.metadata.name, uid: acct.metadata.uid },
        ]);
      await first.stop();

      // A restart changes nothing.
      cloud.clearRequests();
      const second = start('--resync-interval', '1h');
      const reconciled = 'controller_runtime_reconcile_total{controller="cloudaccount",result="requeue_after"}';
      await until('a sweep', async () => (await second.metrics()).includes(`{account="${namespace}/acct"} 2`));
      await until('a look at it', async () => !(await second.metrics()).includes(`${reconciled} 1\n`));
      expect((await world.get(acct))?.metadata.resourceVersion).toBe(shown.metadata.resourceVersion);

      await account({ endpointMirror: { intervalSeconds: 10, types: ['ephemeral'] } });
      await until('another filter', async () => (await mirrored(namespace)).join() === 'ep_a,ep_b,ep_c');
      await account({ endpointMirror: { enabled: false } });
      await until('no ConfigMaps', async () => (await mirrored(namespace)).length === 0);
      await until('no count', async () => (await world.get(acct))?.status?.endpointsMirrored === undefined);
      expect(conditionOf((await world.get(acct)) as ManagedObject, 'EndpointsMirrored')).toBeUndefined();

      await account({ endpointMirror: {} });
      await until('the ConfigMaps again', async () => (await mirrored(namespace)).length === 3);
      await world.delete(acct);
      await world.gone(acct);
      expect(await mirrored(namespace)).toEqual([]);
    }));

  test.concurrent('EndpointsMirrored says so when each endpoint has its ConfigMap, and not before', () =>
    withSetting(async ({ namespace, cloud, start, account, writeSecret }) => {
      const many = Array.from({ length: 800 }, (_, index) => ({
        ...(endpoints[0] as (typeof endpoints)[number]),
        id: `ep_${index}`,
      }));
      cloud.seed({ accounts: ['tenant'], endpoints: many });
      start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const acct = await account({ endpointMirror: { intervalSeconds: 3_600 } });
      const count = await until('the condition', async () => {
        const found = (await world.get(acct)) as ManagedObject;
        if (conditionOf(found, 'EndpointsMirrored')?.status !== 'True') return undefined;
        return (await mirrored(namespace)).length;
      });
      expect(count).toBe(800);
    }));

  test.concurrent('a paused account makes no call', () =>
    withSetting(async ({ namespace, cloud, start, account, writeSecret }) => {
      cloud.seed({ accounts: ['tenant'], endpoints });
      const operator = start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const acct = await account({ endpointMirror: {} });
      await until('the ConfigMaps', async () => (await mirrored(namespace)).length === 3);
      await world.annotate(acct, { [annotation.paused]: 'true' });
      await world.reason(acct, 'Paused');
      expect(await operator.metrics()).not.toContain(`edge_operator_mirrored_endpoints{account="${namespace}/acct"}`);
      await world.annotate(acct, { [annotation.paused]: null });
      await until('the mirror to run again', async () =>
        (await operator.metrics()).includes(`edge_operator_mirrored_endpoints{account="${namespace}/acct"} 3`),
      );
    }));

  test.concurrent('the default account mirrors into the namespace of the flag, within the interval of the flag', () =>
    withSetting(async ({ namespace, cloud, start }) => {
      const operator = start('--mirror-namespace', namespace, '--mirror-interval', '1s', '--resync-interval', '1h');
      await operator.ready();
      cloud.seed({ endpoints });
      await until('the ConfigMaps', async () => (await mirrored(namespace)).length === 3);
      expect(await operator.metrics()).toContain('edge_operator_mirrored_endpoints{account="default"} 3');
      cloud.unseed('ep_c');
      await until('it to go', async () => (await mirrored(namespace)).join() === 'ep_a,ep_b');
    }));
});

(hasKubectl ? test.concurrent : test.skip)('kubectl get acct reads well', () =>
  withSetting(async ({ namespace, cloud, start, account, writeSecret }) => {
    start();
    await writeSecret(keys[0]);
    const acct = await account({ endpointMirror: {} });
    await until('the mirror', async () => (await world.get(acct))?.status?.endpointsMirrored === 0);
    const { stdout } = await kubectl(world.kube, ['-n', namespace, 'get', 'acct']);
    expect(stdout.replaceAll(/ +/g, ' ')).toMatch(
      /^NAME URL REACHABLE AUTHENTICATED ENDPOINTS READY REASON AGE\nacct \S+ true true 0 True Available \d+s\n$/,
    );
    expect(stdout).toContain(cloud.url);
  }),
);
