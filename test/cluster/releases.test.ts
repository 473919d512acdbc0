import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { until } from '../support/until.ts';
import { type Cluster, onCluster, startCluster } from './cluster.ts';

const release = { name: 'edge', namespace: 'edge-system' };
const otherKey = 'other-cloud-api-key';

/** For how long two releases go on in each other's way. */
const overlapMs = 1_000 * Number(process.env.TEST_OVERLAP_SECONDS ?? 0);

let cluster: Cluster;
const addrsOf = async (key: string): Promise<readonly { readonly id: string }[]> => {
  const headers = { authorization: `Bearer ${key}`, 'service-version': '2' };
  const answer = await fetch(`${cluster.cloud.url}/reserved_addrs`, { headers });
  return ((await answer.json()) as { reserved_addrs: { id: string }[] }).reserved_addrs;
};
const idOf = async (object: ManagedObject) => (await cluster.reason(object, 'Available')).status?.id;
const writes = () => cluster.cloud.requests().filter(({ method }) => method !== 'GET');
/** Waits until an operator has done what is asked of the resource from now on. */
const worksOn = async (object: ManagedObject, description: string) => {
  const { name, namespace = '' } = object.metadata;
  await cluster.apply(object.kind, namespace, name, { description });
  return idOf(object);
};

onCluster('releases', () => {
  beforeAll(async () => {
    cluster = await startCluster({ apiKeys: [`other=${otherKey}`] });
  });
  afterAll(() => cluster?.stop());

  onCluster.each(['helm', 'helm-3'] as const)('one after another, with %s', (by) => {
    const release = { name: 'edge', namespace: 'edge-system', by };
    let object: ManagedObject;
    let id: unknown;

    test('upgraded to two pods, the resource stays, and nothing is written to the cloud', async () => {
      await cluster.install(release);
      object = await cluster.apply('ReservedAddr', 'default', 'first', { description: 'installed' });
      id = await idOf(object);
      cluster.cloud.clearRequests();
      await cluster.upgrade(release, { replicas: 2, test: { sample: { namespace: 'default' } } });
      expect(await cluster.podNames(release)).toHaveLength(2);
      expect(writes()).toEqual([]);
      expect(await worksOn(object, 'upgraded')).toBe(id);
      expect(writes()).toHaveLength(1);
    });

    test('tested, it makes a sample, deletes it, and leaves nothing of the test', async () => {
      cluster.cloud.clearRequests();
      await cluster.test(release);
      const made = writes().map(({ method, path }) => `${method} /${path.split('/')[1]}`);
      expect(made).toEqual(['POST /bot_users', 'DELETE /bot_users']);
      const left = await cluster.kubectl('get', 'pod,role,rolebinding,serviceaccount,bot', '-A', '-o', 'name');
      expect(left).not.toContain('test');
      expect(left).not.toContain('sample');
    });

    test('tested while no operator runs, it fails and says so', async () => {
      await cluster.scale(release, 0);
      await expect(cluster.test(release)).rejects.toThrow('FAIL  operator: no operator acts');
      await cluster.kubectl('-n', release.namespace, 'delete', 'pod', `${release.name}-edge-operator-test`);
      await cluster.scale(release, 2);
    });

    test('rolled back, the same', async () => {
      cluster.cloud.clearRequests();
      await cluster.rollback(release, 1);
      await until('one pod', async () => (await cluster.podNames(release)).length === 1);
      expect(writes()).toEqual([]);
      expect(await worksOn(object, 'rolled back')).toBe(id);
    });

    test('uninstalled, what it made stays; installed again, it goes on', async () => {
      cluster.cloud.clearRequests();
      await cluster.uninstall(release);
      expect((await cluster.get(object))?.status?.id).toBe(id);
      await cluster.install(release);
      expect(await worksOn(object, 'installed again')).toBe(id);
      expect(writes()).toHaveLength(1);
    });

    test('deleted as docs/install.md has it, nothing is left', async () => {
      await cluster.kubectl('delete', 'edge', '--all', '-A', '--timeout=60s');
      await cluster.uninstall(release);
      await cluster.kubectl('delete', 'crd', '-l', 'app.kubernetes.io/part-of=edge-operator');
      await cluster.kubectl('delete', 'configmap', '-A', '-l', 'edge-operator.dev/mirror=endpoints');
      await cluster.kubectl('delete', 'namespace', release.namespace, '--timeout=60s');
      expect(await addrsOf(cluster.cloud.apiKey)).toEqual([]);
      const kinds = 'clusterrole,clusterrolebinding,configmap,crd';
      expect(await cluster.kubectl('get', kinds, '-A', '-o', 'name')).not.toMatch(/edge-|configmap\/endpoint-/);
    });
  });

  test('installed by Helm 3 over definitions that kubectl applied, as docs/install.md has it', async () => {
    const older = { ...release, by: 'helm-3' as const };
    await cluster.kubectl('apply', '--server-side', '-f', join(import.meta.dirname, '../../crds'));
    await expect(cluster.install(older)).rejects.toThrow('invalid ownership metadata');
    await cluster.install(older, {}, '--take-ownership');
    await cluster.uninstall(older);
  });

  test('installed over definitions of another version that kubectl applied, as docs/install.md has it', async () => {
    const crds = join(import.meta.dirname, '../../crds');
    await cluster.kubectl('apply', '--server-side', '-f', crds);
    const other = '{"spec":{"names":{"shortNames":["ra","other"]}}}';
    await cluster.kubectl('patch', 'crd', 'reservedaddrs.edge-operator.dev', '--type=merge', '-p', other);
    await expect(cluster.install(release, {}, '--take-ownership')).rejects.toThrow('conflict');
    await cluster.uninstall(release);
    await cluster.install(release, {}, '--take-ownership', '--force-conflicts');
    const names = ['get', 'crd', 'reservedaddrs.edge-operator.dev', '-o', 'jsonpath={.spec.names.shortNames}'];
    expect(JSON.parse(await cluster.kubectl(...names))).not.toContain('other');
  });

  onCluster('that overlap, with keys of different accounts', () => {
    const narrow = { name: 'narrow', namespace: 'narrow-system' };

    test(
      'each resource has one object; who did not make it says Conflict, and whose it is',
      async () => {
        await cluster.createNamespaces('shared');
        const names = ['a', 'b', 'c'];
        const objects = await Promise.all(names.map((name) => cluster.apply('ReservedAddr', 'shared', name, {})));
        const ids = await Promise.all(objects.map(idOf));
        await cluster.install(narrow, {
          watchNamespaces: ['shared'],
          crds: { install: false },
          account: { apiKey: otherKey },
        });
        const note = await until('somebody to say Conflict', async () => {
          const events = (await Promise.all(objects.map((object) => cluster.events(object)))).flat();
          return events.find((event) => event.note.startsWith('Conflict: '))?.note;
        });
        const uid = (
          await cluster.kubectl('get', 'namespace', release.namespace, '-o', 'jsonpath={.metadata.uid}')
        ).slice(0, 8);
        expect(note).toContain(`managed by another installation of the operator, ${release.namespace}-${uid}:`);
        for (const object of objects) await cluster.reason(object, 'Available');
        const endsAt = performance.now() + overlapMs;
        let rounds = 0;
        do {
          cluster.cloud.clearRequests();
          // Both have work to do again; one does it.
          const worked = objects.map((object) => worksOn(object, `changed ${rounds}`));
          expect(await Promise.all(worked)).toEqual(ids);
          expect(writes().map(({ method }) => method)).toEqual(objects.map(() => 'PATCH'));
          expect((await addrsOf(cluster.cloud.apiKey)).map(({ id }) => id).sort()).toEqual([...ids].sort());
          expect(await addrsOf(otherKey)).toEqual([]);
          rounds += 1;
        } while (performance.now() < endsAt);
        console.info(`${rounds} changes of ${objects.length} resources, as many objects, and a call for each change`);
        for (const object of objects) await cluster.delete(object);
        for (const object of objects) await cluster.gone(object);
        expect(await addrsOf(cluster.cloud.apiKey)).toEqual([]);
      },
      120_000 + overlapMs,
    );
  });
});
