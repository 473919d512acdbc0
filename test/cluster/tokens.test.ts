import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { askedBy } from './audit.ts';
import { type Cluster, onCluster, startCluster } from './cluster.ts';
import { renewToken } from './token.ts';

const release = { name: 'edge', namespace: 'edge-system' };
const account = { namespace: release.namespace, name: 'edge-edge-operator' };

onCluster('the token of a pod', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.install(release);
  });
  afterAll(() => cluster?.stop());

  const tokens = () => new Set(askedBy(cluster.audit(), account).map(({ user }) => user.extra?.[credential]?.[0]));

  test('is replaced as the kubelet does it: the new one is used, without a restart and without a failure', async () => {
    const object = await cluster.apply('ReservedAddr', 'default', 'first', { description: 'by the first token' });
    await cluster.reason(object, 'Available');
    expect(tokens().size).toBe(1);
    const pods = await cluster.podNames(release);
    await renewToken(cluster, release);
    // Written to the pod's volume; the operator looks at the file once a minute.
    await until('the new token to be used', () => tokens().size === 2, 90_000);
    await cluster.apply('ReservedAddr', 'default', 'first', { description: 'by the second token' });
    await cluster.reason(object, 'Available');
    expect(await cluster.podNames(release)).toEqual(pods);
    const failed = askedBy(cluster.audit(), account).filter(({ responseStatus }) => responseStatus?.code === 401);
    expect(failed).toEqual([]);
  });
});

/** By which the API server tells one token from another. */
const credential = 'authentication.kubernetes.io/credential-id';
