import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ConfigMap, configMapType } from '../../src/operator/mirror/config-map.ts';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { Grants } from '../deploy/access.ts';
import { type EveryKind, endpoint, startEveryKind } from '../deploy/every-kind.ts';
import type { Values } from '../deploy/helm.ts';
import { until } from '../support/until.ts';
import { secretType } from '../support/world.ts';
import { accessIn, askedBy, refusedIn } from './audit.ts';
import { type Cluster, onCluster, startCluster } from './cluster.ts';

/* Every kind through its life with RBAC enforced, and the audit log compared with what the chart grants, both ways. */

const granted = { rbac: { secrets: true }, endpointMirror: { cloudAccounts: true, interval: '1s' } };
const modes: Readonly<Record<string, Values>> = {
  'all namespaces': granted,
  'two namespaces': { ...granted, watchNamespaces: ['team', 'other'], crds: { install: false } },
};

/** What is granted and is not used here, and why it is granted; test/deploy/rbac.test.ts brings each of them about. */
const explained: readonly (readonly [right: RegExp, why: string])[] = [
  [/: get \w+\.edge-operator\.dev$/, 'a resource is read anew when somebody else wrote it at the same moment'],
  [
    /: list (cloudaccounts|agents|agenttunnels|requestreplays)\.edge-operator\.dev$/,
    'API servers before 1.32 do not stream lists',
  ],
  [/-mirror: list configmaps$/, 'the same'],
  [/: get configmaps$/, 'what is in the way of a mirrored endpoint is looked at'],
];

let cluster: Cluster;
let everyKind: EveryKind;

onCluster('every kind', () => {
  beforeAll(async () => {
    [cluster, everyKind] = await Promise.all([startCluster(), startEveryKind()]);
  });
  afterAll(async () => {
    await everyKind?.close();
    await cluster?.stop();
  });

  onCluster.each(Object.keys(modes))('%s', (mode) => {
    const namespace = 'team';
    // Each has a Lease and a mirror of its own to make.
    const release = { name: 'edge', namespace: `system-of-${mode.replaceAll(' ', '-')}` };
    const account = { namespace: release.namespace, name: 'edge-edge-operator' };
    beforeAll(async () => {
      await cluster.createNamespaces(namespace, 'other');
      const settings = { allowedAgentHosts: [new URL(everyKind.agent.url).host] };
      await cluster.install(release, { ...modes[mode], settings });
    });
    afterAll(async () => {
      // So that the Lease is let go, and the next release need not wait for it to end.
      await cluster.scale(release, 0);
      await cluster.uninstall(release);
      await cluster.kubectl('delete', 'namespace', namespace, 'other');
    });

    test('is made, put right, and deleted without a trace', async () => {
      await everyKind.prepare(cluster, namespace);
      const objects = await everyKind.apply(cluster, namespace, { mirrors: true });
      for (const object of objects) await cluster.reason(object, 'Available');
      await correctTwice(objects.find(({ kind }) => kind === 'BotUser') as ManagedObject);
      for (const where of [namespace, release.namespace]) await disturbMirror(where);
      await emptyMirror(release.namespace);
      await replaceKey();
      await cluster.kubectl('delete', 'edge', '--all', '-n', namespace, '--timeout=60s');
      for (const path of ['/reserved_addrs', '/bot_users'])
        expect((await cluster.cloud.call('GET', path)).body[path.slice(1)]).toEqual([]);
      expect(await cluster.kubectl('get', 'configmap', '-n', namespace, '-o', 'name')).not.toContain('endpoint-');
      const secrets = JSON.parse(await cluster.kubectl('get', 'secret', '-n', namespace, '-o', 'json'));
      for (const { metadata } of secrets.items) expect(metadata.finalizers).toBeUndefined();
    });

    /** The same event twice: once created, once counted. */
    async function correctTwice(bot: ManagedObject): Promise<void> {
      const path = `/bot_users/${(await cluster.get(bot))?.status?.id}`;
      for (const time of ['1', '2']) {
        await cluster.cloud.call('PATCH', path, { active: false });
        await cluster.annotate(bot, { [annotation.reconcileAt]: time });
        await until('the drift to be corrected', async () => (await cluster.cloud.call('GET', path)).body.active);
      }
    }

    /** A Secret that is deleted by itself is let go. */
    async function replaceKey(): Promise<void> {
      const at = { namespace, name: 'cloud' };
      await cluster.client.delete(secretType, at);
      await until('the Secret to be let go', async () => (await cluster.client.get(secretType, at)) === undefined);
      await cluster.give('Secret', namespace, 'cloud', { key: cluster.cloud.apiKey });
    }

    async function mirrorIn(where: string): Promise<ConfigMap | undefined> {
      const selection = { namespace: where, labelSelector: 'edge-operator.dev/mirror=endpoints' };
      return (await cluster.client.listAll<ConfigMap>(configMapType, selection)).items[0];
    }

    async function emptyMirror(where: string): Promise<void> {
      cluster.cloud.unseed(endpoint.id);
      await until('no ConfigMap', async () => (await mirrorIn(where)) === undefined);
    }

    async function disturbMirror(where: string): Promise<void> {
      const { metadata } = await until('the mirror', () => mirrorIn(where));
      await cluster.client.patch(configMapType, metadata, { type: 'merge', body: { data: { proto: 'edited' } } });
      await until('the edit to be undone', async () => (await mirrorIn(where))?.data?.proto === endpoint.proto);
    }

    test('what was asked for was granted, and what is granted was asked for', async () => {
      const events = askedBy(cluster.audit(), account);
      expect(refusedIn(events)).toEqual([]);
      const grants = new Grants(await cluster.manifest(release), account.name);
      const accesses = events.map(accessIn).filter((access) => access !== undefined);
      expect(accesses.filter((access) => !grants.allows(access))).toEqual([]);
      expect(grants.unused().filter((right) => !explained.some(([pattern]) => pattern.test(right)))).toEqual([]);
    });

    // After the comparison: it asks with the same account.
    test('helm test finds nothing', () => cluster.test(release));
  });
});
