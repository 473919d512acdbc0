import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeObject } from '../../src/operator/kube/types.ts';
import { holderFinalizer } from '../../src/operator/reconcile/resource/annotations.ts';
import { endpoint } from '../deploy/every-kind.ts';
import { until } from '../support/until.ts';
import { namespaceType, secretType } from '../support/world.ts';
import { type Cluster, onCluster, startCluster } from './cluster.ts';

/*
 * What the namespace controller does when a namespace is deleted: everything in it goes, in an order of its own, and
 * nothing new is taken; Roles and Secrets go too.
 */

const release = { name: 'edge', namespace: 'edge-system' };
const tenantKey = 'tenant-cloud-api-key';

let cluster: Cluster;
const gone = (name: string) =>
  until(
    `namespace ${name} to be gone`,
    async () => (await cluster.client.get<KubeObject>(namespaceType, { name })) === undefined,
    60_000,
  ).catch(async (error) => {
    const namespace = await cluster.client.get(namespaceType, { name });
    throw new Error(`${error.message}: ${JSON.stringify(namespace)}\n${cluster.logs(release.namespace)}`);
  });
const deleteNamespace = (name: string) => cluster.client.delete(namespaceType, { name });
const botsOfTenant = async () => {
  const headers = { authorization: `Bearer ${tenantKey}`, 'service-version': '2' };
  const answer = await fetch(`${cluster.cloud.url}/bot_users`, { headers });
  return ((await answer.json()) as { bot_users: { name: string }[] }).bot_users.map(({ name }) => name).sort();
};

/** An account of its own and what uses it. */
async function settle(namespace: string) {
  await cluster.give('Secret', namespace, 'key', { 'api-key': tenantKey });
  const account = await cluster.apply('CloudAccount', namespace, 'acct', {
    apiKeySecretRef: { name: 'key', key: 'api-key' },
    endpointMirror: { intervalSeconds: 10 },
  });
  const bots = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      cluster.apply('BotUser', namespace, name, { name: `${namespace}-${name}`, accountRef: { name: 'acct' } }),
    ),
  );
  for (const object of [account, ...bots]) await cluster.reason(object, 'Available');
  return account;
}

/** Of docs/install.md: those of the first block after the heading, for the release of these tests. */
function commandsAfter(heading: string): readonly (readonly string[])[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs/install.md'), 'utf8');
  const [, block = ''] = /```sh\n(.*?)```/s.exec(text.slice(text.indexOf(heading))) ?? [];
  return block
    .replaceAll('\\\n', '')
    .replaceAll('edge-operator:edge-operator', `${release.namespace}:${release.name}-edge-operator`)
    .split('\n')
    .filter((line) => line.startsWith('kubectl '))
    .map((line) =>
      line
        .replace(/^kubectl /, '')
        .replace(/ +#.*$/, '')
        .replaceAll("'", '')
        .trim()
        .split(/ +/),
    );
}

onCluster('namespaces', () => {
  beforeAll(async () => {
    cluster = await startCluster({ apiKeys: [`tenant=${tenantKey}`] });
    cluster.cloud.seed({ accounts: ['tenant'], endpoints: [endpoint] });
  });
  afterAll(() => cluster?.stop());

  onCluster('that all are watched', () => {
    beforeAll(async () => {
      await cluster.install(release, { rbac: { secrets: true }, endpointMirror: { cloudAccounts: true } });
    });

    test('deleted while the operator works, everything in it is deleted in the cloud', async () => {
      await cluster.createNamespaces('present');
      await settle('present');
      await deleteNamespace('present');
      await gone('present');
      expect(await botsOfTenant()).toEqual([]);
    });

    test('deleted while the operator is away, everything in it is deleted in the cloud when it is back', async () => {
      await cluster.createNamespaces('absent');
      const account = await settle('absent');
      await cluster.scale(release, 0);
      await deleteNamespace('absent');
      await until('the Secret to be deleted', async () => {
        const secret = await cluster.client.get<KubeObject>(secretType, { namespace: 'absent', name: 'key' });
        expect(secret?.metadata.finalizers).toEqual([holderFinalizer(account)]);
        return secret?.metadata.deletionTimestamp !== undefined;
      });
      expect(await botsOfTenant()).toHaveLength(3);
      await cluster.scale(release, 1);
      await gone('absent');
      expect(await botsOfTenant()).toEqual([]);
    });

    test('a Secret that is replaced is in nobody’s way; an account that vanishes takes its mirror along', async () => {
      await cluster.createNamespaces('rotated');
      const account = await settle('rotated');
      await cluster.client.delete(secretType, { namespace: 'rotated', name: 'key' });
      await cluster.reason(account, 'DependencyNotReady');
      await cluster.give('Secret', 'rotated', 'key', { 'api-key': tenantKey });
      await cluster.reason(account, 'Available');
      const mirrored = () => cluster.kubectl('-n', 'rotated', 'get', 'configmap', '-o', 'name');
      await until('the mirror', async () => (await mirrored()).includes('endpoint-'));
      await cluster.scale(release, 0);
      await cluster.kubectl(
        '-n',
        'rotated',
        'patch',
        'acct/acct',
        '--type=merge',
        '-p',
        '{"metadata":{"finalizers":null}}',
      );
      await cluster.kubectl('-n', 'rotated', 'delete', 'acct/acct');
      await until('what it owned to be gone', async () => !(await mirrored()).includes('endpoint-'));
      await cluster.uninstall(release);
    });
  });

  onCluster('of watchNamespaces', () => {
    const values = { watchNamespaces: ['one', 'two'], rbac: { secrets: true }, crds: { install: false } };
    const ready = async (namespace: string, name: string) => {
      const object = await cluster.apply('ReservedAddr', namespace, name, { description: name });
      return cluster.reason(object, 'Available');
    };

    test('one that is deleted stops nothing in the other, not even a new pod', async () => {
      await cluster.createNamespaces('one', 'two');
      await cluster.install(release, values);
      await Promise.all([ready('one', 'before'), ready('two', 'before')]);
      await cluster.kubectl('delete', 'edge', '--all', '-n', 'two', '--timeout=60s');
      await deleteNamespace('two');
      await gone('two');
      await ready('one', 'meanwhile');
      await cluster.scale(release, 0);
      await cluster.scale(release, 1);
      await ready('one', 'after-a-restart');
      expect(await cluster.metrics(release)).toContain('edge_operator_namespace_refused_kinds{watched="two"} 9');
      expect(await cluster.metrics(release)).toContain('edge_operator_namespace_refused_kinds{watched="one"} 0');
    });

    test('made again, it is followed without a restart', async () => {
      const pods = await cluster.podNames(release);
      await cluster.createNamespaces('two');
      await cluster.upgrade(release, values);
      await ready('two', 'again');
      expect(await cluster.podNames(release)).toEqual(pods);
      await until('it to be no refusal any more', async () =>
        (await cluster.metrics(release)).includes('edge_operator_namespace_refused_kinds{watched="two"} 0'),
      );
    });

    test('one whose RoleBinding is deleted: it says so, and goes on with the right given back', async () => {
      await cluster.kubectl('-n', 'two', 'delete', 'rolebinding', '--all');
      await cluster.scale(release, 0);
      await cluster.scale(release, 1);
      const waiting = await cluster.apply('ReservedAddr', 'two', 'waits', { description: 'waits' });
      await ready('one', 'not-held-up');
      expect((await cluster.get(waiting))?.status?.conditions).toBeUndefined();
      await cluster.upgrade(release, values);
      await cluster.reason(waiting, 'Available', 60_000);
    });

    test('one that is deleted with its resources goes once the operator has the right again', async () => {
      const left = await ready('two', 'left');
      await cluster.kubectl('-n', 'two', 'delete', 'rolebinding', '--all');
      await deleteNamespace('two');
      await until('the resource to be deleted', async () => {
        const addr = await cluster.cloud.call('GET', `/reserved_addrs/${left.status?.id}`);
        return addr.status === 404;
      });
      expect((await cluster.get(left))?.metadata.deletionTimestamp).toBeDefined();
      for (const command of commandsAfter('## Only some namespaces')) await cluster.kubectl(...command);
      await gone('two');
    });
  });
});
