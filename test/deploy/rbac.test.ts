import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { definitions } from '../../src/operator/kinds/index.ts';
import type { KubeObject, ResourceType } from '../../src/operator/kube/types.ts';
import { type ConfigMap, configMapType } from '../../src/operator/mirror/config-map.ts';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import {
  type GateProxy,
  kubeconfigThrough,
  type ProxiedRequest,
  type ProxyAnswer,
  startGateProxy,
} from '../support/gate-proxy.ts';
import { type OperatorProcess, startOperatorProcess } from '../support/operator-process.ts';
import { until } from '../support/until.ts';
import { namespaceType, secretType, startWorld, type World } from '../support/world.ts';
import { type Access, accessOf, Grants } from './access.ts';
import { type EveryKind, endpoint, startEveryKind } from './every-kind.ts';
import { only, type Rendered, release, render, type Values } from './helm.ts';
import { containerOf, flagsOf } from './pods.ts';

/*
 * What the chart grants is what the operator uses, no more and no less. An authorizer with the chart's roles stands
 * before the API server (the real one of the tests stores roles, but does not enforce them), while the operator does
 * everything that it ever does: each kind, references, mirrors, events, the Lease, conflicts, lists where the server
 * cannot stream them.
 */

const account = { apiURL: 'https://api.example.com', existingSecret: 'edge-account' };
const endpointMirror = { interval: '1s' };
const everyAccount = { endpointMirror: { ...endpointMirror, cloudAccounts: true }, rbac: { secrets: true } };
const modes: Readonly<Record<string, Values>> = {
  'all namespaces': { account, ...everyAccount },
  'all namespaces, accounts without mirrors, named Secrets': {
    account,
    endpointMirror,
    rbac: { secretNames: ['hooks', 'cloud'] },
  },
  "all namespaces, the chart's own account": {
    account,
    accounts: [{ name: 'cloud', namespace: 'team', existingSecret: 'cloud', endpointMirror: { intervalSeconds: 10 } }],
    endpointMirror,
    rbac: { secretNames: ['hooks'] },
  },
  'two namespaces': { account, ...everyAccount, watchNamespaces: ['team', 'other'] },
};

const team = 'team';
let everyKind: EveryKind;
beforeAll(async () => {
  everyKind = await startEveryKind();
});
afterAll(() => everyKind?.close());

describe.each(Object.keys(modes))('%s', (mode) => {
  let world: World;
  let authorizer: Authorizer;
  let operator: OperatorProcess;
  let rendered: readonly Rendered[];
  /** Where the operator mirrors endpoints. */
  let mirrors: readonly string[];

  beforeAll(async () => {
    [world, rendered] = await Promise.all([startWorld(), render(modes[mode] ?? {})]);
    for (const name of [release.namespace, team, 'other']) await create(namespaceType, { metadata: { name } });
    authorizer = await startAuthorizer(world, rendered);
    const flags = flagsOf(containerOf(only(rendered, 'Deployment')));
    mirrors = [String(flags.get('mirror-namespace')), ...(mode.includes('without mirrors') ? [] : [team])];
    operator = startOperatorProcess({
      kubeconfig: authorizer.kubeconfig,
      apiURL: world.cloud.url,
      apiKey: world.cloud.apiKey,
      args: [
        ...argumentsOf(rendered),
        '--leader-elect-namespace',
        release.namespace,
        '--allowed-agent-hosts',
        new URL(everyKind.agent.url).host,
      ],
    });
  });
  afterAll(async () => {
    await operator?.stop();
    await authorizer?.close();
    await world?.stop();
  }, 30_000);

  const create = (of: ResourceType, object: object) =>
    world.client.create<KubeObject>(of, { apiVersion: 'v1', kind: of.kind, ...object } as KubeObject);

  test('what is granted is used, and nothing else is', async () => {
    await everyKind.prepare(world, team);
    const objects = await everyKind.apply(world, team, { mirrors: mirrors.includes(team) });
    for (const object of objects) await world.reason(object, 'Available', 30_000);
    await replaceKey();
    await correctTwice(objects.find(({ kind }) => kind === 'BotUser') as ManagedObject);
    await Promise.all(mirrors.map((namespace) => disturbMirror(namespace)));
    world.cloud.unseed(endpoint.id);
    await until('everything granted to be used', () => authorizer.grants.unused().length === 0, 30_000).catch(() => {});
    expect({ denied: authorizer.denied, unused: authorizer.grants.unused() }).toEqual({ denied: [], unused: [] });
  }, 120_000);

  /** A Secret that is deleted by itself is let go. */
  async function replaceKey(): Promise<void> {
    const at = { namespace: team, name: 'cloud' };
    await world.client.delete(secretType, at);
    await until('the Secret to be let go', async () => (await world.client.get(secretType, at)) === undefined);
    await world.give('Secret', team, 'cloud', { key: world.cloud.apiKey });
  }

  /** The same event twice: once created, once counted. */
  async function correctTwice(bot: ManagedObject): Promise<void> {
    for (const time of ['1', '2']) {
      const { id } = (await world.get(bot))?.status ?? {};
      await world.cloud.call('PATCH', `/bot_users/${id}`, { active: false });
      await world.annotate(bot, { [annotation.reconcileAt]: time });
      await until(
        'the drift to be corrected',
        async () => (await world.cloud.call('GET', `/bot_users/${id}`)).body.active,
      );
    }
  }

  /** An edit, and the loss of the labels by which the mirror knows its ConfigMap. */
  async function disturbMirror(namespace: string): Promise<void> {
    const { metadata } = await until(`the mirror in ${namespace}`, () => mirrored(namespace), 30_000);
    const patch = (body: object) => world.client.patch<ConfigMap>(configMapType, metadata, { type: 'merge', body });
    await patch({ data: { proto: 'edited' } });
    await until('the edit to be undone', async () => (await mirrored(namespace))?.data?.proto === 'tcp');
    await patch({ metadata: { labels: null } });
    await until('the labels to be back', () => mirrored(namespace));
  }

  async function mirrored(namespace: string): Promise<ConfigMap | undefined> {
    const labelSelector = 'edge-operator.dev/mirror=endpoints';
    return (await world.client.listAll<ConfigMap>(configMapType, { namespace, labelSelector })).items[0];
  }
});

test('what is not granted is not read, and the condition says how to grant it', async () => {
  const [world, rendered] = await Promise.all([startWorld(), render({ account })]);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => world.stop());
  for (const name of [release.namespace, team]) {
    await world.client.create(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  const authorizer = await startAuthorizer(world, rendered);
  stack.defer(() => authorizer.close());
  const operator = startOperatorProcess({
    kubeconfig: authorizer.kubeconfig,
    apiURL: world.cloud.url,
    apiKey: world.cloud.apiKey,
    args: [...argumentsOf(rendered), '--leader-elect-namespace', release.namespace],
  });
  stack.defer(async () => void (await operator.stop()));
  const spec = { apiKeySecretRef: { name: 'cloud', key: 'key' } };
  const object = await world.apply('CloudAccount', team, 'cloud', spec);
  const waiting = await world.reason(object, 'DependencyNotReady', 30_000);
  expect(conditionOf(waiting, 'Ready')?.message).toMatch(/Secret team\/cloud .*\(rbac\.secrets or rbac\.secretNames/);
  expect(authorizer.denied.every((access) => JSON.parse(access).resource === 'secrets')).toBe(true);
});

/** Of the Deployment, but for what a test has elsewhere. */
function argumentsOf(rendered: readonly Rendered[]): readonly string[] {
  const args: readonly string[] = containerOf(only(rendered, 'Deployment')).args.slice(1);
  return args.filter((arg) => !/^--(api-url|api-key-file|metrics-addr|health-addr|requests-per-minute)=/.test(arg));
}

interface Authorizer {
  readonly grants: Grants;
  /** Requests that were refused, as text. */
  readonly denied: readonly string[];
  /** For the operator. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

async function startAuthorizer(world: World, rendered: readonly Rendered[]): Promise<Authorizer> {
  const grants = new Grants(rendered, only(rendered, 'ServiceAccount').metadata.name);
  const denied: string[] = [];
  const disturb = disturber(world);
  const intercept = async ({ method, path }: ProxiedRequest): Promise<ProxyAnswer | undefined> => {
    // As everybody may by Kubernetes' own role system:discovery: what the cluster serves.
    if (method === 'GET' && path.startsWith('/openapi/')) return undefined;
    const access = accessOf(method, path);
    if (access === undefined || !grants.allows(access)) {
      denied.push(access === undefined ? `${method} ${path}` : JSON.stringify(access));
      return refusal(403, 'Forbidden');
    }
    // As servers before Kubernetes 1.32: the operator must list.
    if (path.includes('sendInitialEvents=true')) return refusal(422, 'Invalid');
    await disturb(access);
    return undefined;
  };
  const proxy: GateProxy = await startGateProxy(world.kube.url, { intercept });
  const through = kubeconfigThrough(proxy, world.kube.kubeconfig);
  const close = async () => {
    await proxy.close();
    through.remove();
  };
  return { grants, denied, kubeconfig: through.path, close };
}

function refusal(code: number, reason: string): ProxyAnswer {
  return { status: code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason } };
}

/** Somebody else changes each kind's resource just before its status is written for the first time. */
function disturber(world: World) {
  const disturbed = new Set<string>();
  return async ({ verb, group, resource, namespace, name }: Access): Promise<void> => {
    const [plural, sub] = resource.split('/');
    const found = definitions.find(({ type }) => type.group === group && type.plural === plural)?.type;
    if (verb !== 'patch' || sub !== 'status' || found === undefined || disturbed.has(resource)) return;
    if (name === undefined || namespace === undefined) return;
    disturbed.add(resource);
    const body = { metadata: { labels: { disturbed: 'true' } } };
    await world.client.patch(found, { name, namespace }, { type: 'merge', body });
  };
}

describe('an access', () => {
  const cases: readonly [method: string, path: string, access: Access | undefined][] = [
    [
      'GET',
      '/api/v1/namespaces/a/secrets?watch=true&fieldSelector=metadata.name%3Dx',
      { verb: 'watch', group: '', resource: 'secrets', namespace: 'a', name: 'x' },
    ],
    ['GET', '/api/v1/secrets?limit=1', { verb: 'list', group: '', resource: 'secrets' }],
    [
      'PATCH',
      '/apis/g.x/v1/namespaces/a/bs/n/status',
      { verb: 'patch', group: 'g.x', resource: 'bs/status', namespace: 'a', name: 'n' },
    ],
    [
      'DELETE',
      '/apis/g.x/v1/namespaces/a/bs',
      { verb: 'deletecollection', group: 'g.x', resource: 'bs', namespace: 'a' },
    ],
    ['GET', '/api/v1/namespaces/a', { verb: 'get', group: '', resource: 'namespaces', namespace: 'a', name: 'a' }],
    ['GET', '/version', undefined],
  ];
  test.each(cases)('%s %s', (method, path, access) => expect(accessOf(method, path)).toEqual(access));
});
