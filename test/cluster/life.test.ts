import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cluster, onCluster, startCluster } from './cluster.ts';

const release = { name: 'edge', namespace: 'edge-system' };

onCluster('a release in a pod', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.stop());

  test('installed, it makes a resource and deletes it', async () => {
    await cluster.install(release);
    const object = await cluster.apply('ReservedAddr', 'default', 'first', { description: 'd' });
    await cluster.reason(object, 'Available');
    await cluster.delete(object);
    await cluster.gone(object);
    expect((await cluster.cloud.call('GET', '/reserved_addrs')).body.reserved_addrs).toEqual([]);
  });
});
