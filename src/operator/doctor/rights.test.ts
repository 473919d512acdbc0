import { describe, expect, test } from '@jest/globals';
import type { KubeClient } from '../kube/client.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { KubeError } from '../kube/errors.ts';
import { type Right, rightsCheck } from './rights.ts';

describe('rights', () => {
  const clusterWith = (...accounts: readonly object[]) =>
    ({ listAll: async () => ({ items: accounts, resourceVersion: '1' }) }) as unknown as KubeClient;
  const client = clusterWith();
  const options = { client, watchNamespaces: [], ownNamespace: 'edge', mirrorNamespace: undefined, shards: 1 };
  /** The answer is as it is on a cluster: without a name. */
  const asked = (allows: (right: Right) => boolean, inCluster = true) => {
    const request = async ({ body = '' }: { body?: string }) => {
      const allowed = allows(JSON.parse(body).spec.resourceAttributes);
      return { status: 201, text: async () => JSON.stringify({ metadata: {}, status: { allowed } }) };
    };
    return { request, inCluster } as unknown as KubeConnection;
  };

  test.each([
    ['in a pod', true, /^may not create leases/, /^bring the roles/],
    ['elsewhere', false, /^whoever runs doctor may not create leases/, /^these are your rights, not the operator's/],
  ])('whose they are is told %s', async (_, inCluster, problem, cure) => {
    const connection = asked(({ resource, verb }) => resource !== 'leases' || verb !== 'create', inCluster);
    const { findings } = await rightsCheck({ ...options, connection }).run();
    expect(findings).toEqual([{ problem: expect.stringMatching(problem), cure: expect.stringMatching(cure) }]);
  });

  test('what is refused is named, with where', async () => {
    const refusing = (right: Right) => right.resource !== 'configmaps' && right.subresource === undefined;
    const connection = asked((right) => refusing(right) || right.resource === 'agents');
    const { findings } = await rightsCheck({ ...options, watchNamespaces: ['a', 'b'], connection }).run();
    const problems = findings.map(({ problem }) => problem);
    expect(problems).toContain('may not list configmaps in namespace a');
    expect(problems).toContain('may not patch botusers/status.edge-operator.dev in namespace b');
    expect(problems).toHaveLength(2 * (2 + 8));
    expect((await rightsCheck({ ...options, connection: asked(() => true) }).run()).findings).toEqual([]);
  });

  test('those of the mirror and of the shards are asked for where there are any', async () => {
    const connection = asked(({ verb }) => verb !== 'update');
    const problems = async (given: object) =>
      (await rightsCheck({ ...options, ...given, connection }).run()).findings.map(({ problem }) => problem);
    const leases = (...suffixes: readonly string[]) =>
      suffixes.map((suffix) => `may not update leases.coordination.k8s.io edge-operator${suffix} in namespace edge`);
    expect(await problems({ mirrorNamespace: 'mirrors', shards: 2 })).toEqual([
      'may not update configmaps in namespace mirrors',
      ...leases('', '-budget', '-0', '-1'),
    ]);
    expect(await problems({})).toEqual(leases('', '-budget'));
  });

  describe('of CloudAccounts that are there', () => {
    const account = (namespace: string, secret: string, spec: object = {}) => ({
      metadata: { namespace, name: 'main' },
      spec: { apiKeySecretRef: { name: secret, key: 'apiKey' }, ...spec },
    });
    const accounts = [
      account('a', 'key', { endpointMirror: { protocols: ['tcp'] } }),
      account('a', 'key'),
      account('b', 'other', { endpointMirror: { enabled: false } }),
    ];
    const readsAlone = ({ resource, verb }: Right) =>
      resource !== 'secrets' && (resource !== 'configmaps' || ['list', 'watch'].includes(verb));

    test('are asked for once each: their Secrets by name, and ConfigMaps where they mirror', async () => {
      const { findings } = await rightsCheck({
        ...options,
        client: clusterWith(...accounts),
        connection: asked(readsAlone),
      }).run();
      expect(findings.map(({ problem }) => problem)).toEqual([
        ...['list', 'watch', 'patch'].map((verb) => `may not ${verb} secrets key in namespace a`),
        ...['get', 'create', 'update', 'delete'].map((verb) => `may not ${verb} configmaps in namespace a`),
        ...['list', 'watch', 'patch'].map((verb) => `may not ${verb} secrets other in namespace b`),
      ]);
      const cures = findings.map(({ cure }) => cure);
      expect(cures[0]).toContain('rbac.secrets or rbac.secretNames');
      expect(cures[3]).toContain('endpointMirror.cloudAccounts');
    });

    test('are none where they may not be listed, which is found by itself', async () => {
      const refusing = {
        listAll: () => Promise.reject(new KubeError('listing', { status: 403, reason: 'Forbidden', message: 'no' })),
      } as unknown as KubeClient;
      const connection = asked(({ resource, verb }) => resource !== 'cloudaccounts' || verb !== 'list');
      const { findings } = await rightsCheck({ ...options, client: refusing, connection }).run();
      expect(findings.map(({ problem }) => problem)).toEqual([
        'may not list cloudaccounts.edge-operator.dev in all namespaces',
      ]);
    });
  });

  test('that could not be asked for leave no question under way', async () => {
    let underWay = 0;
    const request = async () => {
      underWay += 1;
      const isFirst = underWay === 1;
      await new Promise((answered) => setTimeout(answered, isFirst ? 0 : 5));
      underWay -= 1;
      if (isFirst) throw new Error('no answer');
      return { status: 201, text: async () => JSON.stringify({ status: { allowed: true } }) };
    };
    const connection = { request, inCluster: true } as unknown as KubeConnection;
    await expect(rightsCheck({ ...options, connection }).run()).rejects.toThrow('no answer');
    expect(underWay).toBe(0);
  });

  test('a server without authorization is asked for nothing more', async () => {
    const request = async () => ({ status: 404, text: async () => '404 page not found' });
    const connection = { request } as unknown as KubeConnection;
    const looked = await rightsCheck({ ...options, connection }).run();
    expect(looked).toEqual({ at: 'nothing: this API server asks for none', findings: [] });
  });
});
