import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../common/http/errors.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { bot, json, type ScriptedAPI, startScriptedAPI } from '../cloud/scripted-api.fixture.ts';
import type { LeaseSpec } from '../controller/lease.ts';
import { toCrd } from '../kinds/crd.ts';
import { definitions } from '../kinds/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { KubeConnectionError, KubeError } from '../kube/errors.ts';
import type { ObjectRef, ResourceType } from '../kube/types.ts';
import type { ManagedObject } from '../reconcile/resource/resource.ts';
import { accountCheck } from './account.ts';
import { look } from './check.ts';
import { definitionsCheck } from './definitions.ts';
import { leaderCheck } from './leader.ts';
import { type Right, rightsCheck } from './rights.ts';
import { sampleCheck } from './sample.ts';

test('a check that fails says why, and stops no other', async () => {
  const broken = { name: 'a', run: () => Promise.reject(new Error('no answer')) };
  const fine = { name: 'b', run: async () => ({ at: 'it', findings: [] }) };
  expect(await look([broken, fine])).toEqual([
    { check: 'a', findings: [], failed: 'no answer' },
    { check: 'b', at: 'it', findings: [] },
  ]);
});

test.each<readonly [string, Error, RegExp | undefined]>([
  ['no API server', new KubeConnectionError('reading', new Error('refused')), /kubectl cluster-info; .*--kubeconfig/],
  ['credentials that are none', new KubeError('reading', { status: 401, message: 'no' }), /kubectl auth whoami/],
  ['rights that are not there', new KubeError('reading', { status: 403, message: 'no' }), /grant/],
  ['no definition', new KubeError('creating', { status: 404, message: 'no' }), /kubectl apply --server-side -f crds/],
  ['no namespace', new KubeError('creating', { status: 404, reason: 'NotFound', message: 'no' }), undefined],
  ['no cloud', new ApiError('away', { reason: 'Unreachable', definite: true }), /--api-url/],
  ['anything else', new Error('what'), undefined],
])('what to do about %s', async (_, error, cure) => {
  const [result] = await look([{ name: 'a', run: () => Promise.reject(error) }]);
  if (cure === undefined) expect(result).not.toHaveProperty('cure');
  else expect(result?.cure).toMatch(cure);
});

describe('definitions', () => {
  /** As the API server publishes them. */
  const served = () =>
    Object.fromEntries(
      definitions.map((definition) => {
        const { kind } = definition.type;
        const schema = structuredClone(toCrd(definition).spec.versions[0]?.schema.openAPIV3Schema);
        return [kind, { ...schema, 'x-kubernetes-group-version-kind': [{ kind }] }];
      }),
    );
  const problems = async (schemas: object, status = 200) => {
    const text = async () => JSON.stringify({ components: { schemas } });
    const connection = { request: async () => ({ status, text }) } as unknown as KubeConnection;
    return (await definitionsCheck(connection).run()).findings.map(({ problem }) => problem);
  };

  interface Schema {
    readonly properties?: Record<string, Schema>;
    readonly items?: Schema;
  }
  type Field = readonly [at: string, remove: () => void];

  function fieldsIn({ properties = {}, items }: Schema, at: string): readonly Field[] {
    const own = Object.entries(properties).flatMap(([name, field]) => [
      [`${at}.${name}`, () => delete properties[name]] as const,
      ...fieldsIn(field, `${at}.${name}`),
    ]);
    return items === undefined ? own : [...own, ...fieldsIn(items, `${at}[]`)];
  }

  test('those of this version are as they should be', async () => {
    expect(await problems(served())).toEqual([]);
  });

  test('where none is there that is one finding, and its cure can be copied', async () => {
    expect(await problems({}, 404)).toEqual([`the cluster lacks all ${definitions.length} kinds of edge-operator.dev`]);
  });

  test('every field that is in a definition is looked for', async () => {
    for (const kind of Object.keys(served())) {
      const all = served();
      const { spec = {}, status = {} } = (all[kind] as Schema).properties ?? {};
      const found: string[] = [];
      // From within: a field that is gone takes those in it with it.
      for (const [at, remove] of [...fieldsIn(spec, 'spec'), ...fieldsIn(status, 'status')].toReversed()) {
        found.push(at);
        remove();
        expect((await problems(all)).join()).toContain(at);
      }
      expect(found.length).toBeGreaterThan(5);
    }
  });

  test('a kind that is not there, and fields that an older version did not have, are named', async () => {
    const { Agent: _, ...schemas } = served();
    // biome-ignore lint/suspicious/noExplicitAny: a schema of any shape
    const { spec, status } = (schemas as any).ReservedAddr.properties;
    delete spec.properties.accountRef.properties.name;
    delete status.properties.conditions.items.properties.reason;
    expect(await problems(schemas)).toEqual([
      'the cluster lacks Agent',
      'the definition of ReservedAddr is older: it lacks spec.accountRef.name, status.conditions[].reason',
    ]);
  });
});

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

describe('the account', () => {
  let api: ScriptedAPI;
  beforeAll(async () => {
    api = await startScriptedAPI();
  });
  afterAll(() => api.close());
  const credential = { key: () => 'key-for-tests', watch: async () => {} };
  const check = () => accountCheck({ ...systemRuntime, apiURL: api.url, credential });
  const page = { bot_users: [bot], uri: 'u', next_page_uri: null };

  test('is asked once', async () => {
    api.play(json(200, page));
    expect(await check().run()).toEqual({ at: api.url, findings: [] });
    expect(api.requests.map(({ url }) => url)).toEqual(['/bot_users?limit=1']);
  });

  test('a key that is refused is found, a cloud that does not answer is not found out', async () => {
    api.play(json(401, {}));
    const [finding] = (await check().run()).findings;
    expect(finding?.cure).toContain('account.existingSecret');
    await expect(check().run()).rejects.toThrow('500');
  });

  test('clocks that are far apart', async () => {
    api.play(json(200, page, { date: new Date(Date.now() - 600_000).toUTCString() }));
    const [finding] = (await check().run()).findings;
    expect(finding?.problem).toMatch(/^the clocks are (599|600|601) s apart$/);
  });
});

describe('the operator', () => {
  const now = Date.parse('2026-01-01T00:00:20Z');
  const clock = { ...systemRuntime.clock, now: () => now };
  const looked = (leases: Readonly<Record<string, LeaseSpec | undefined>>, shards: number) => {
    const get = async (_: ResourceType, { name }: ObjectRef) => leases[name] && { spec: leases[name] };
    return leaderCheck({ client: { get } as unknown as KubeClient, clock, namespace: 'edge', shards }).run();
  };
  const check = (spec?: LeaseSpec) => looked({ 'edge-operator': spec }, 1);
  const held = { holderIdentity: 'pod_1', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:10.000000Z' };

  test('that holds the Lease acts', async () => {
    expect(await check(held)).toEqual({ at: 'pod_1', findings: [] });
  });

  test('whose Lease is not there may be in another namespace, or act without one: nobody knows', async () => {
    const { findings, failed, cure } = await check();
    expect([findings, failed]).toEqual([[], 'there is no Lease edge-operator in namespace edge']);
    expect(cure).toContain('one that runs without --leader-elect has none');
    expect(cure).toMatch(/where there are none, install it: docs\/install\.md$/);
    expect(cure).toMatch(/^if the operator is in another namespace, name that: --leader-elect-namespace;/);
  });

  test.each([
    ['it was given away', { ...held, holderIdentity: '' }, 'no operator acts'],
    ['it ran out', { ...held, renewTime: '2025-12-31T23:59:00Z' }, 'the operator that acted, pod_1, is gone'],
  ])('%s', async (_why, spec, problem) => {
    expect((await check(spec)).findings.map((finding) => finding.problem)).toEqual([problem]);
  });

  describe('that has shards', () => {
    const together = { ...held, holderIdentity: '4 shards' };
    const inShards = (...specs: readonly (LeaseSpec | undefined)[]) =>
      looked(
        Object.fromEntries([['edge-operator', together], ...specs.map((spec, i) => [`edge-operator-${i}`, spec])]),
        4,
      );

    test('acts where each is held', async () => {
      const other = { ...held, holderIdentity: 'pod_2' };
      expect(await inShards(held, other, held, other)).toEqual({ at: 'pod_1, pod_2', findings: [] });
    });

    test('does not in one that nobody holds, though all hold the Lease of all', async () => {
      const away = { ...held, holderIdentity: 'pod_2', renewTime: '2025-12-31T23:59:00Z' };
      const { findings } = await inShards(held, undefined, away, { ...held, holderIdentity: '' });
      expect(findings.map(({ problem }) => problem)).toEqual([
        'no operator acts in shard 1, 3',
        'the operator that acted in shard 2, pod_2, is gone',
      ]);
    });

    test.each([
      [together, 1, '4 shards', '--shards 4'],
      [together, 3, '4 shards', '--shards 4'],
      [held, 3, '1 shard', '--shards 1'],
    ])('of another number than was said is not looked at (%#)', async (spec, shards, number, flag) => {
      const { findings, failed, cure } = await looked({ 'edge-operator': spec }, shards);
      expect([findings, failed]).toEqual([[], `the operator in namespace edge divides its work into ${number}`]);
      expect(cure).toContain(flag);
    });
  });
});

describe('a sample', () => {
  const botUsers = definitions.find(({ type }) => type.kind === 'BotUser')?.type as ResourceType;
  const waits = { ...systemRuntime, clock: { ...systemRuntime.clock, sleep: async () => {} } };
  let seen: ManagedObject[];
  /** An operator that makes it Ready, and lets it go, as it is asked to. */
  const cluster = (does: { readonly ready: boolean; readonly gone: boolean }) => {
    let stored: ManagedObject | undefined;
    seen = [];
    const Ready = { type: 'Ready', status: does.ready ? 'True' : 'False', reason: 'Rejected', message: 'not so' };
    return {
      create: async (_: ResourceType, object: ManagedObject) => {
        seen.push(object);
        stored = { ...object, status: { conditions: [Ready] } } as unknown as ManagedObject;
      },
      get: async (_: ResourceType, _ref: ObjectRef) => stored,
      delete: async () => {
        stored =
          does.gone || stored === undefined
            ? undefined
            : { ...stored, metadata: { ...stored.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
      },
    } as unknown as KubeClient;
  };
  const looked = (client: KubeClient) => {
    const options = { ...waits, client, namespace: 'team', account: 'acct', timeoutMs: 5 };
    return sampleCheck({ ...options, signal: new AbortController().signal }).run();
  };
  const run = async (client: KubeClient) => {
    return (await looked(client)).findings.map(({ problem }) => problem.replace(/-\w{8} /, ' '));
  };

  test('is a bot user that may not act, and leaves nothing behind', async () => {
    expect(await run(cluster({ ready: true, gone: true }))).toEqual([]);
    expect(seen[0]).toMatchObject({ kind: 'BotUser', spec: { active: false, accountRef: { name: 'acct' } } });
  });

  test('that is never Ready is deleted all the same, and what it says is told', async () => {
    expect(await run(cluster({ ready: false, gone: true }))).toEqual([
      'BotUser team/edge-operator-sample is not Ready: Rejected: not so',
    ]);
    const [finding] = (await looked(cluster({ ready: false, gone: true }))).findings;
    expect(finding?.cure).toMatch(
      /^do what .* says about Rejected; .*events .*involvedObject\.name=edge-operator-sample-/,
    );
  });

  test('whose looker is stopped goes all the same, and that is told', async () => {
    const client = cluster({ ready: false, gone: true });
    const stop = new AbortController();
    const options = { ...systemRuntime, client, namespace: 'team', account: undefined, timeoutMs: 60_000 };
    const looking = sampleCheck({ ...options, signal: stop.signal }).run();
    stop.abort();
    expect(await looking).toMatchObject({
      findings: [],
      failed: expect.stringMatching(/^stopped before .*; BotUser team\/edge-operator-sample-\w{8} was deleted$/),
    });
    expect(await client.get(botUsers, seen[0]?.metadata as ObjectRef)).toBeUndefined();
  });

  test('of which nothing can be found out goes all the same', async () => {
    const client = cluster({ ready: false, gone: true });
    const { get } = client;
    const broken = { ...client, get: () => Promise.reject(new Error('no answer')) } as unknown as KubeClient;
    await expect(looked(broken)).rejects.toThrow('no answer');
    expect(await get(botUsers, seen[0]?.metadata as ObjectRef)).toBeUndefined();
  });

  test('that somebody else deletes before it was Ready is none that was', async () => {
    const client = cluster({ ready: false, gone: true });
    let looks = 0;
    const get = async (kind: ResourceType, ref: ObjectRef) => {
      looks += 1;
      if (looks === 2) await client.delete(kind, ref);
      return client.get(kind, ref);
    };
    expect(await run({ ...client, get } as unknown as KubeClient)).toEqual([
      'BotUser team/edge-operator-sample vanished before it was Ready: somebody else deleted it',
    ]);
  });

  test.each([
    ['was Ready', true],
    ['could not be looked at', false],
  ])('that %s and cannot be deleted is named, with what to do', async (_, isSeen) => {
    const away = () => Promise.reject(new Error('no answer'));
    const client = cluster({ ready: true, gone: true });
    const stuck = { ...client, delete: away, ...(isSeen ? {} : { get: away }) } as unknown as KubeClient;
    const { findings, failed, cure } = await looked(stuck);
    const name = seen[0]?.metadata.name;
    expect([findings, failed]).toEqual([[], `BotUser team/${name} is left behind: no answer`]);
    expect(cure).toBe(`kubectl -n team delete botuser ${name}`);
  });

  test('that does not go is told', async () => {
    expect(await run(cluster({ ready: true, gone: false }))).toEqual([
      'BotUser team/edge-operator-sample is not gone: Rejected: not so',
    ]);
    const [finding] = (await looked(cluster({ ready: true, gone: false }))).findings;
    expect(finding?.cure).toMatch(/^kubectl -n team describe botuser edge-operator-sample-/);
  });
});
