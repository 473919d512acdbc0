import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { until } from '../support/until.ts';
import { lose, restore, save, saveEtcd } from './backup.ts';
import { type Cluster, onCluster, startCluster } from './cluster.ts';

/* What docs/backup.md says of backups of objects, of a move to another cluster, and of an etcd that is older. */

const release = { name: 'edge', namespace: 'edge-system' };
const tenantKey = 'tenant-cloud-api-key';
const values = { rbac: { secrets: true } };

let cluster: Cluster;
const writes = () => cluster.cloud.requests().filter(({ method }) => method !== 'GET');
const called = () => writes().map(({ method, path }) => `${method} /${path.split('/')[1]}`);
const addrs = async (): Promise<readonly { id: string; description: string }[]> =>
  (await cluster.cloud.call('GET', '/reserved_addrs')).body.reserved_addrs;
const idOf = async (object: ManagedObject) => (await cluster.reason(object, 'Available', 60_000)).status?.id;

/** Of docs/backup.md. */
function textOf(heading: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/backup.md'), 'utf8');
  return page.split(/^## /m).find((section) => section.startsWith(heading)) ?? '';
}

/** Addresses of the default account, a bot user of an account of its own, and modules. */
async function settle(namespace: string) {
  await cluster.createNamespaces(namespace);
  await cluster.give('Secret', namespace, 'key', { 'api-key': tenantKey });
  await cluster.apply('CloudAccount', namespace, 'acct', { apiKeySecretRef: { name: 'key', key: 'api-key' } });
  const made = await Promise.all([
    ...['a', 'b'].map((name) => cluster.apply('ReservedAddr', namespace, name, { description: name })),
    cluster.apply('BotUser', namespace, 'bot', { name: 'bot', accountRef: { name: 'acct' } }),
  ]);
  const modules = await cluster.apply('HttpsEdgeModules', namespace, 'edge', {
    edgeID: 'edghts_1',
    tlsTermination: { minVersion: '1.3' },
  });
  await cluster.reason(modules, 'Available');
  const ids = await Promise.all(made.map(idOf));
  return { made, modules, ids };
}

onCluster('after a backup', () => {
  beforeAll(async () => {
    cluster = await startCluster({ apiKeys: [`tenant=${tenantKey}`] });
    cluster.cloud.seed({ https_edges: [{ id: 'edghts_1', routes: [] }] });
    await cluster.install(release, values);
  });
  afterAll(() => cluster?.stop());

  test.each([
    ['with its status', true],
    ['without its status', false],
  ])('a namespace that is restored %s goes on with what it had', async (_what, status) => {
    const namespace = status ? 'with' : 'without';
    const { made, modules, ids } = await settle(namespace);
    const saved = await save(cluster, namespace);
    await cluster.scale(release, 0);
    await lose(cluster, saved);
    cluster.cloud.clearRequests();
    await cluster.createNamespaces(namespace);
    await restore(cluster, saved, { status });
    await cluster.scale(release, 1);
    expect(await Promise.all(made.map(idOf))).toEqual(ids);
    await cluster.reason(modules, 'Available');
    expect(called()).toEqual([]);
    await cluster.kubectl('delete', 'edge', '--all', '-n', namespace, '--timeout=60s');
    const everything = ['/bot_users', '/edges', '/reserved_addrs', '/reserved_addrs'];
    expect(called().sort()).toEqual(everything.map((path) => `DELETE ${path}`));
    // The Secret came back with the finalizer of an account that is not there.
    await cluster.kubectl('delete', 'namespace', namespace, '--timeout=60s');
  });

  test('a namespace that was deleted while the operator ran took its objects along', async () => {
    const { made, modules } = await settle('ran');
    const saved = await save(cluster, 'ran');
    await cluster.kubectl('delete', 'namespace', 'ran', '--timeout=60s');
    expect(await addrs()).toEqual([]);
    await cluster.createNamespaces('ran');
    await restore(cluster, saved, { status: false });
    for (const object of made) await cluster.reason(object, 'ExternalNotFound');
    const [, command = ''] = /^kubectl (annotate ra,bot .*)$/m.exec(textOf('What was deleted')) ?? [];
    await cluster.kubectl(...command.replace('-n team', '-n ran').split(' '));
    await Promise.all(made.map(idOf));
    await cluster.reason(modules, 'Available');
    expect(await addrs()).toHaveLength(2);
    await cluster.kubectl('delete', 'edge', '--all', '-n', 'ran', '--timeout=60s');
  });

  test('in another cluster manifests from git go on with the ids that the old one wrote down', async () => {
    const { made, modules, ids } = await settle('git');
    const [, jsonpath = ''] = /-o (jsonpath='.*external-id=.*') >/.exec(textOf('Another cluster')) ?? [];
    const script = await cluster.kubectl('get', 'ra,bot', '-A', '-o', jsonpath.replaceAll("'", ''));
    const saved = await save(cluster, 'git');
    await cluster.scale(release, 0);
    await lose(cluster, saved);
    cluster.cloud.clearRequests();
    const manifests = saved.map(({ metadata: { name, namespace }, ...rest }) => ({
      ...rest,
      metadata: { name, namespace },
    }));
    await cluster.createNamespaces('git');
    await restore(cluster, manifests, { status: false });
    for (const command of script.trim().split('\n')) await cluster.kubectl(...command.split(' ').slice(1));
    await cluster.scale(release, 1);
    expect(await Promise.all(made.map(idOf))).toEqual(ids);
    await cluster.reason(modules, 'Available');
    expect(called()).toEqual([]);
    await cluster.kubectl('delete', 'edge', '--all', '-n', 'git', '--timeout=60s');
    expect(await addrs()).toEqual([]);
  });

  test("the release in a namespace that was deleted and made again takes over what the old one's had", async () => {
    const { made, modules, ids } = await settle('kept');
    await cluster.uninstall(release);
    await cluster.kubectl('delete', 'namespace', release.namespace, '--timeout=60s');
    cluster.cloud.clearRequests();
    await cluster.install(release, values);
    await until('one of them to say whose it is', async () => {
      return (await cluster.kubectl('get', 'edge', '-n', 'kept', '-o', 'wide')).includes('another installation');
    });
    await cluster.upgrade(release, { ...values, settings: { takeOver: true } });
    const installation = async (object: ManagedObject) =>
      (await cluster.get(object))?.metadata.annotations?.[annotation.installation];
    const { uid } = JSON.parse(await cluster.kubectl('get', 'ns', release.namespace, '-o', 'json')).metadata;
    await until('all to be taken over', async () => {
      const all = await Promise.all([...made, modules].map(installation));
      return all.every((name) => name === `${release.namespace}-${uid.slice(0, 8)}`);
    });
    await cluster.upgrade(release, values);
    expect(await Promise.all(made.map(idOf))).toEqual(ids);
    await cluster.reason(modules, 'Available');
    expect(called()).toEqual([]);
    await cluster.kubectl('delete', 'edge', '--all', '-n', 'kept', '--timeout=60s');
    expect(await addrs()).toEqual([]);
  }, 120_000);

  test('a Secret that an older version would leave behind goes by the command for it', async () => {
    const namespace = 'older';
    await settle(namespace);
    await cluster.scale(release, 0);
    for (const { kind, metadata } of await save(cluster, namespace))
      if (kind !== 'Secret')
        await cluster.kubectl(
          '-n',
          namespace,
          'patch',
          kind,
          metadata.name,
          '--type=merge',
          '-p',
          '{"metadata":{"finalizers":null}}',
        );
    await cluster.kubectl('delete', 'namespace', namespace, '--wait=false');
    await until('the Secret to be all that is left', async () => {
      const left = await cluster.kubectl('-n', namespace, 'get', 'secret,edge', '-o', 'name');
      return left.trim() === 'secret/key';
    });
    const [, patch = ''] = /patch secret team-edge --type=merge -p '(.*)'/.exec(textOf('After a rollback')) ?? [];
    await cluster.kubectl('-n', namespace, 'patch', 'secret', 'key', '--type=merge', '-p', patch);
    await cluster.kubectl('wait', '--for=delete', `namespace/${namespace}`, '--timeout=60s');
    await cluster.scale(release, 1);
    // What was made in it is left, as nobody was there to delete it.
    for (const { id } of await addrs()) await cluster.cloud.call('DELETE', `/reserved_addrs/${id}`);
  });

  test('in another cluster what still has its status waits for somebody to say who goes on', async () => {
    const { made, modules, ids } = await settle('moved');
    const saved = await save(cluster, 'moved');
    await cluster.uninstall(release);
    await lose(cluster, saved);
    // Another namespace of the same name is what another cluster has: an installation of its own.
    await cluster.kubectl('delete', 'namespace', release.namespace, '--timeout=60s');
    cluster.cloud.clearRequests();
    await cluster.createNamespaces('moved');
    await restore(cluster, saved, { status: true });
    await cluster.install(release, values);
    const other = await until('one of them to say whose they are', async () => {
      const found = await cluster.kubectl('-n', 'moved', 'get', 'edge', '-o', 'json');
      return /managed by another installation of the operator, (\S+):/.exec(found)?.[1];
    });
    expect(other).toMatch(/^edge-system-[0-9a-f]{8}$/);
    expect(called()).toEqual([]);
    await cluster.kubectl('annotate', 'edge', '--all', '-n', 'moved', `${annotation.takeOver}=${other}`);
    expect(await Promise.all(made.map(idOf))).toEqual(ids);
    await cluster.reason(modules, 'Available');
    await cluster.kubectl('annotate', 'edge', '--all', '-n', 'moved', `${annotation.takeOver}-`);
    expect(await Promise.all(made.map(idOf))).toEqual(ids);
    expect(called()).toEqual([]);
    await cluster.kubectl('delete', 'edge', '--all', '-n', 'moved', '--timeout=60s');
    expect(await addrs()).toEqual([]);
  });

  test('an etcd that is older: what was deleted since is made again, what was edited is as it was, what was made stays', async () => {
    const names = ['kept', 'edited', 'deleted', 'fourth', 'fifth'];
    const objects = await Promise.all(
      names.map((name) => cluster.apply('ReservedAddr', 'default', name, { description: name })),
    );
    const before = await Promise.all(objects.map(idOf));
    const [, edited, deleted] = objects as [ManagedObject, ManagedObject, ManagedObject];
    const saved = await saveEtcd(cluster);
    await cluster.apply('ReservedAddr', 'default', 'edited', { description: 'edited since' });
    await until('the edit', async () => (await addrs()).some(({ description }) => description === 'edited since'));
    await cluster.delete(deleted);
    await cluster.gone(deleted);
    const later = await cluster.apply('ReservedAddr', 'default', 'later', { description: 'later' });
    const laterID = await idOf(later);
    await saved.restore();
    await until(
      'the edit to be as it was',
      async () => (await addrs()).some(({ description }) => description === 'edited'),
      70_000,
    );
    // A process that has never seen it looks twice, --create-settle (60 s) apart, before it believes that it is gone.
    await until('what was deleted to be made again', async () => (await addrs()).length === names.length + 1, 100_000);
    const after = await Promise.all(objects.map(idOf));
    expect(after.filter((id, index) => id !== before[index])).toHaveLength(1);
    expect(await cluster.get(later)).toBeUndefined();
    // Nobody's now. With its id the manifest that is applied again has it; without, it would make another.
    cluster.cloud.clearRequests();
    await cluster.apply(
      'ReservedAddr',
      'default',
      'later',
      { description: 'later' },
      { [annotation.externalID]: String(laterID) },
    );
    expect(await idOf(later)).toBe(laterID);
    expect(called()).toEqual([]);
    expect(await idOf(edited)).toBe(before[1]);
    const kept = await cluster.kubectl('get', 'ra', '-o', 'jsonpath={.items[*].status.id}');
    expect(kept.split(' ').sort()).toEqual((await addrs()).map(({ id }) => id).sort());
    // Longer than its waits together.
  }, 240_000);
});
