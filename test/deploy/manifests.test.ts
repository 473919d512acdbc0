import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { install, renderOperator } from '../../scripts/deploy.ts';
import { definitions } from '../../src/operator/kinds/index.ts';
import { startTestKubeApi, type TestKubeApi } from '../support/kube-api.ts';
import { hasKubectl, kubectlArgs } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { foreignCrds } from './foreign-crds.ts';

/* deploy/, as people apply it: with kubectl, to a real API server where TEST_KUBE_APISERVER names one. */

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const deploy = join(import.meta.dirname, '../../deploy');
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');
const objectsIn = (text: string): readonly Manifest[] => parseAllDocuments(text).map((document) => document.toJS());
const idOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
const byID = (text: string) => new Map(objectsIn(text).map((object) => [idOf(object), object]));

const onRealServer = hasKubectl && (process.env.TEST_KUBE_APISERVER ?? '') !== '';

async function kubectl(args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('kubectl', args, { maxBuffer: 64 * 1024 * 1024 })).stdout;
}

test('the operator is what the chart renders; else: npm run render:deploy', async () => {
  expect(read('base/operator.yaml')).toBe(await renderOperator());
});

test('there is a sample of every kind', () => {
  const samples = readdirSync(join(deploy, 'samples')).flatMap((name) => objectsIn(read(`samples/${name}`)));
  const ours = samples.filter(({ apiVersion }) => apiVersion.startsWith('edge-operator.dev/')).map(({ kind }) => kind);
  expect([...new Set(ours)].sort()).toEqual(definitions.map(({ type }) => type.kind).sort());
});

test('the values of all examples are those of deploy/values.yaml, and the versions that of the chart', () => {
  const values = parse(read('values.yaml'));
  const { version } = parse(read('../charts/edge-operator/Chart.yaml'));
  const [application, resources] = objectsIn(read('argocd/application.yaml')) as unknown as [Any, Any];
  const [repository, release] = objectsIn(read('flux/operator/release.yaml')) as unknown as [Any, Any];
  const [git] = objectsIn(read('flux/kustomizations.yaml')) as unknown as [Any];
  expect([application.spec.source.helm.valuesObject, release.spec.values]).toEqual([values, values]);
  expect([application.spec.source.targetRevision, repository.spec.ref.tag]).toEqual([version, version]);
  expect([resources.spec.source.targetRevision, git.spec.ref.tag]).toEqual([`v${version}`, `v${version}`]);
});

test('what the examples of GitOps manage can be Ready in any account: nothing there has an id of somebody else', () => {
  const [, argo] = objectsIn(read('argocd/application.yaml')) as unknown as [Any, Any];
  const flux = (objectsIn(read('flux/kustomizations.yaml')) as Any[]).find(({ spec }) => spec?.targetNamespace);
  expect([argo.spec.source.path, flux.spec.path]).toEqual(['deploy/edge', './deploy/edge']);
  const managed = readdirSync(join(deploy, 'edge')).flatMap((name) => objectsIn(read(`edge/${name}`)));
  expect(managed.map(({ kind }) => kind)).toEqual(['BotUser', 'ReservedAddr']);
});

// biome-ignore lint/suspicious/noExplicitAny: objects of many shapes
type Any = any;

(hasKubectl ? describe : describe.skip)('with kubectl', () => {
  test('kustomize builds what install.yaml has', async () => {
    expect(byID(await kubectl(['kustomize', deploy]))).toEqual(byID(install()));
  });
});

(onRealServer ? describe : describe.skip)('with kubectl, on a real API server (TEST_KUBE_APISERVER)', () => {
  let api: TestKubeApi;
  let installYaml: string;
  beforeAll(async () => {
    api = await startTestKubeApi();
    installYaml = join(mkdtempSync(join(tmpdir(), 'edge-operator-test-')), 'install.yaml');
    writeFileSync(installYaml, install());
  });
  afterAll(async () => {
    rmSync(dirname(installYaml), { recursive: true });
    await api.stop();
  });

  const run = (...args: readonly string[]) => kubectl([...kubectlArgs(api), ...args]);
  const apply = (...args: readonly string[]) => run('apply', '--validate=strict', ...args);
  const established = () => run('wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all');

  test('apply -k deploy, then samples, then install.yaml, which changes nothing', async () => {
    expect(await apply('-k', deploy)).toMatch(/deployment.apps\/edge-operator created/);
    await established();
    const samples = await apply('-f', join(deploy, 'samples'));
    expect(samples.match(/ created$/gm)).toHaveLength(samples.trim().split('\n').length);
    const again = await apply('-f', installYaml);
    expect(again.match(/ unchanged$/gm)).toHaveLength(objectsIn(install()).length);
  });

  test('apply -f install.yaml to an empty cluster', async () => {
    const empty = await startTestKubeApi();
    try {
      const args = [...kubectlArgs(empty), 'apply', '--validate=strict', '-f', installYaml];
      const applied = await kubectl(args);
      expect(applied.match(/ created$/gm)).toHaveLength(objectsIn(install()).length);
    } finally {
      await empty.stop();
    }
  });

  test("the health check can be merged into Argo CD's ConfigMap", async () => {
    await run('create', 'namespace', 'argocd');
    await run('-n', 'argocd', 'create', 'configmap', 'argocd-cm', '--from-literal=url=https://argocd.example.com');
    const patch = join(deploy, 'argocd/argocd-cm.yaml');
    await run('-n', 'argocd', 'patch', 'configmap', 'argocd-cm', '--patch-file', patch);
    const { data } = JSON.parse(await run('-n', 'argocd', 'get', 'configmap', 'argocd-cm', '-o', 'json'));
    expect(data).toEqual({ url: 'https://argocd.example.com', ...parse(read('argocd/argocd-cm.yaml')).data });
  });

  test("the policy for annotations keeps the operator's records from everybody else", async () => {
    const policy = read('hardening/annotations.yaml').replace(
      'system:serviceaccount:edge-operator:edge-operator',
      'operator',
    );
    const file = join(dirname(installYaml), 'policy.yaml');
    writeFileSync(file, policy);
    await apply('-k', deploy);
    await established();
    await apply('-f', join(deploy, 'samples/botuser.yaml'));
    await apply('-f', file);
    const annotate = (text: string, ...as: string[]) =>
      run('annotate', '--overwrite', ...as, 'botuser', 'deployer', text).then(
        () => 'done',
        (error: Error) => /denied request: (.*)/.exec(error.message)?.[1] ?? error.message,
      );
    let tries = 0;
    const forged = () => annotate(`edge-operator.dev/account=${tries++}`);
    await until('the policy to be in force', async () => (await forged()) !== 'done');
    expect(await annotate('edge-operator.dev/account=team/theirs')).toMatch(/^annotations .* to set$/);
    expect(await annotate('edge-operator.dev/external-id=bot_1', '--token=operatortoken')).toBe('done');
    expect(await annotate('edge-operator.dev/external-id=bot_2')).toMatch(/^annotations .* to set$/);
    expect(await annotate('edge-operator.dev/external-id-')).toMatch(/^annotations .* to remove$/);
    for (const text of ['edge-operator.dev/paused=true', 'edge-operator.dev/paused-', 'example.com/a=b'])
      expect(await annotate(text)).toBe('done');
    await run('delete', '-f', file);
  });

  test('the policy for tenants leaves them what is theirs', async () => {
    const policy = read('tenancy/admission-policy.yaml').replace(
      'system:serviceaccount:edge-operator:edge-operator',
      'operator',
    );
    const file = join(dirname(installYaml), 'tenants.yaml');
    writeFileSync(file, policy);
    await apply('-k', deploy);
    await established();
    for (const namespace of ['tenant', 'other']) await run('create', 'namespace', namespace);
    await run('label', 'namespace', 'tenant', 'edge-operator.dev/tenant=true');
    await apply('-f', file);
    const send = (object: object, namespace = 'tenant', ...as: string[]) => {
      const path = join(dirname(installYaml), 'object.json');
      writeFileSync(path, JSON.stringify({ apiVersion: 'edge-operator.dev/v1alpha1', ...object }));
      return run('-n', namespace, 'apply', '--server-side', '--force-conflicts', ...as, '-f', path).then(
        () => 'done',
        (error: Error) => /denied request: (.*)/.exec(error.message)?.[1] ?? error.message,
      );
    };
    const bot = (metadata: object = {}, spec: object = {}) => ({
      kind: 'BotUser',
      metadata: { name: 'a', ...metadata },
      spec: { name: 'a', ...spec },
    });
    const annotated = (name: string, value = 'x') => ({ annotations: { [`edge-operator.dev/${name}`]: value } });
    const operator = '--token=operatortoken';
    let tries = 0;
    await until('the policy to be in force', async () => {
      return (await send(bot({ name: `t${tries++}`, ...annotated('account') }))) !== 'done';
    });
    for (const name of ['account', 'created-id', 'create-intent', 'applied-parts', 'anything', 'external-id'])
      expect(await send(bot(annotated(name)))).toMatch(/^of edge-operator.dev's annotations tenants set/);
    expect(await send(bot(annotated('account'), {}), 'other')).toBe('done');
    const accountRef = { name: 'mine' };
    expect(await send(bot({ name: 'b', ...annotated('external-id', 'bot_1') }, { accountRef }))).toBe('done');
    expect(await send(bot({ name: 'b', ...annotated('external-id', 'bot_2') }, { accountRef }))).toMatch(/tenants set/);
    for (const name of ['paused', 'reconcile-at', 'force-orphan'])
      expect(await send(bot(annotated(name)))).toBe('done');
    expect(await send(bot())).toBe('done');
    const finalizers = ['edge-operator.dev/external-resource'];
    expect(await send(bot({ finalizers }))).toMatch(/^the finalizer of edge-operator.dev/);
    expect(await send(bot({ finalizers, ...annotated('created-id') }), 'tenant', operator)).toBe('done');
    const patch = (body: object, name = 'a') =>
      run('-n', 'tenant', 'patch', 'botuser', name, '--type=merge', '-p', JSON.stringify(body)).then(
        () => 'done',
        (error: Error) => /denied request: (.*)/.exec(error.message)?.[1] ?? error.message,
      );
    expect(await patch({ metadata: { finalizers: null } })).toMatch(/^the finalizer of edge-operator.dev/);
    expect(await patch({ metadata: { annotations: { 'edge-operator.dev/created-id': null } } })).toMatch(
      /tenants remove/,
    );
    expect(await patch({ spec: { active: false } })).toBe('done');
    expect(await patch({ spec: { accountRef: null } }, 'b')).toMatch(/^with external-id tenants keep spec.accountRef/);
    expect(await patch({ spec: { accountRef: { name: 'other' } } }, 'b')).toBe('done');
    const agent = (spec: object) => ({ kind: 'Agent', metadata: { name: 'edge' }, spec });
    expect(await send(agent({ url: 'http://agent' }))).toMatch(/by serviceRef, not by url/);
    expect(await send(agent({ serviceRef: { name: 'edge' } }))).toBe('done');
    await run('delete', '-f', file);
  });

  test('objects of Argo CD and Flux are as their definitions ask', async () => {
    const own = await startTestKubeApi({ crds: await foreignCrds() });
    try {
      const to = kubectlArgs(own);
      for (const namespace of ['argocd', 'flux-system']) await kubectl([...to, 'create', 'namespace', namespace]);
      const files = ['argocd/application.yaml', 'flux/operator/release.yaml', 'flux/kustomizations.yaml'];
      for (const file of files) {
        await kubectl([...to, 'apply', '--server-side', '--validate=strict', '-f', join(deploy, file)]);
      }
    } finally {
      await own.stop();
    }
  }, 300_000);
});
