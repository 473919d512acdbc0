import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { sourcesOf } from '../../scripts/tools.ts';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { startTestCloud, type TestCloud } from '../support/cloud-api.ts';
import { installCrds, kubeRequests, startTestKubeApi, type TestKubeApi } from '../support/kube-api.ts';
import { hasKubectl, kubectlArgs } from '../support/kubectl.ts';
import { claimPorts, type Ports } from '../support/ports.ts';
import { until } from '../support/until.ts';
import { chartDir, helm, type Rendered, release, render, type Values } from './helm.ts';
import { matrix } from './matrix.ts';
import { Objects } from './objects.ts';
import { type Pod, startPod } from './pod.ts';

/* The chart on a real API server; left out where TEST_KUBE_APISERVER names none. */

const onRealServer = process.env.TEST_KUBE_APISERVER ? describe : describe.skip;
const samples = join(import.meta.dirname, '../../deploy/samples');
/** The first one that there was: from it every later one must upgrade. */
const firstChart = join(import.meta.dirname, 'charts/edge-operator-0.1.0.tgz');

const namespace = (name: string): Rendered => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const reference = (kind: string, name: string) => ({
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind,
  metadata: { name, namespace: 'default' },
});

onRealServer('every object of every set of values', () => {
  let kube: TestKubeApi;
  let objects: Objects;
  beforeAll(async () => {
    kube = await startTestKubeApi({ crds: 'project' });
    const request = kubeRequests(kube.url, kube.token);
    objects = new Objects(request);
    await installCrds(request, await monitoringCrds());
    for (const name of [release.namespace, 'team', 'other']) await objects.apply(namespace(name));
  });
  afterAll(() => kube?.stop());

  test.each(Object.keys(matrix))('%s: is accepted with strict field validation', async (name) => {
    const rendered = await render(matrix[name] ?? {});
    const answers = rendered.map((object) =>
      objects.apply(object, { dryRun: true }).catch((error: Error) => error.message),
    );
    const refusals = (await Promise.all(answers)).filter((answer) => typeof answer === 'string');
    expect(refusals).toEqual([]);
  });

  test('a field that does not exist would be refused', async () => {
    const [account] = await render({
      accounts: [{ name: 'x', apiKey: 'k', apiURL: 'https://a' }],
      crds: { install: false },
    });
    await expect(objects.apply({ ...(account as Rendered), nope: 1 }, { dryRun: true })).rejects.toThrow('nope');
  });
});

/** Those of the Prometheus operator for the kinds that the chart makes. */
async function monitoringCrds(): Promise<readonly object[]> {
  const dir = join(...(await sourcesOf('prometheus-operator')), 'example/prometheus-operator-crd');
  const read = (plural: string) => parse(readFileSync(join(dir, `monitoring.coreos.com_${plural}.yaml`), 'utf8'));
  return ['servicemonitors', 'prometheusrules'].map(read);
}

onRealServer('install, upgrade, rollback, uninstall', () => {
  let kube: TestKubeApi;
  let cloud: TestCloud;
  let claim: Ports;
  let objects: Objects;
  let pod: Pod | undefined;
  let values: Values;
  const changed = mkdtempSync(join(tmpdir(), 'edge-operator-chart-'));

  const run = (args: readonly string[], given?: Values) =>
    helm([...args, '--namespace', release.namespace], {
      env: { KUBECONFIG: kube.kubeconfig },
      ...(given === undefined ? {} : { values: given }),
    });
  /** What the Deployment's controller does after a change of its template. */
  const rollOut = async () => {
    expect((await pod?.stop()) ?? 0).toBe(0);
    const metadata = { name: 'edge-edge-operator', namespace: release.namespace };
    pod = await startPod(await objects.get({ apiVersion: 'apps/v1', kind: 'Deployment', metadata }), kube, objects);
  };
  const ready = (kind: string, name: string) =>
    until(`${kind} ${name} to be Ready`, async () => {
      const object = await objects.get(reference(kind, name));
      const condition = object.status?.conditions?.find(({ type }: { type: string }) => type === 'Ready');
      return condition?.status === 'True' && condition.observedGeneration === object.metadata.generation && object;
    }).catch((error) => {
      throw new Error(`${error.message}; the operator's log:\n${pod?.logs()}`);
    });
  let stagings = 0;
  /** Applies a resource of the other account, and waits until the operator that runs now has looked at it. */
  const stage = async (spec: object = {}) => {
    const { metadata, ...staged } = reference('ReservedAddr', 'staged');
    const time = String(++stagings);
    const annotated = { ...metadata, annotations: { [annotation.reconcileAt]: time } };
    await objects.apply({ ...staged, metadata: annotated, spec: { accountRef: { name: 'staging' }, ...spec } });
    await until('the operator to have looked', async () => {
      const { status } = await ready('ReservedAddr', 'staged');
      return status.lastHandledReconcileAt === time;
    });
  };
  /** Which resources there are, and what each has made. */
  const identities = async () => {
    const names = [
      ...(await sampleObjects()),
      reference('ReservedAddr', 'staged'),
      reference('CloudAccount', 'staging'),
    ];
    const found = await Promise.all(names.map(({ kind, metadata }) => ready(kind, metadata.name)));
    return found.map(({ kind, metadata, status }) => [kind, metadata.name, metadata.uid, status.id]);
  };
  const writes = () =>
    cloud
      .requests()
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => `${method} ${path}`);
  const definition = async () => {
    const metadata = { name: 'reservedaddrs.edge-operator.dev' };
    const { spec } = await objects.get({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata,
    });
    return spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
  };

  beforeAll(async () => {
    [kube, cloud] = await Promise.all([startTestKubeApi(), startTestCloud()]);
    objects = new Objects(kubeRequests(kube.url, kube.token));
    claim = await claimPorts(2);
    const [port, healthPort] = claim.ports;
    values = {
      account: { apiURL: cloud.url, apiKey: cloud.apiKey },
      accounts: [{ name: 'staging', namespace: 'default', apiKey: cloud.apiKey }],
      metrics: { port },
      healthPort,
      extraEnv: [{ name: 'EDGE_OPERATOR_LOG_FORMAT', value: 'text' }],
    };
    cpSync(chartDir, changed, { recursive: true });
    const crd = join(changed, 'files/crds/reservedaddrs.yaml');
    const added = '              properties:\n                later:\n                  type: string\n';
    writeFileSync(crd, readFileSync(crd, 'utf8').replace(/(spec:\n +type: object\n) +properties:\n/, `$1${added}`));
  });
  afterAll(async () => {
    await pod?.stop();
    await Promise.all([kube?.stop(), cloud?.stop(), claim?.release()]);
    rmSync(changed, { recursive: true, force: true });
  });

  test('installed, the operator as the Deployment has it makes samples Ready', async () => {
    await run(['install', release.name, firstChart, '--create-namespace'], values);
    await rollOut();
    for (const object of await sampleObjects()) await objects.apply(object);
    await stage();
    await identities();
    expect(pod?.logs()).toMatch(/ INFO +became the leader /);
    expect(await pod?.probe('livenessProbe')).toBe(200);
    await until('the readiness probe', async () => (await pod?.probe('readinessProbe')) === 200);
  });

  test('upgraded to changed definitions, resources stay, and nothing is written to the cloud', async () => {
    const before = await identities();
    cloud.clearRequests();
    await run(['upgrade', release.name, changed], values);
    await rollOut();
    expect(await definition()).toHaveProperty('later');
    await stage({ later: 'x' });
    expect(await identities()).toEqual(before);
    expect(writes()).toEqual([]);
  });

  test('rolled back, resources stay, and nothing is written to the cloud', async () => {
    const before = await identities();
    await run(['rollback', release.name, '1']);
    await rollOut();
    expect(await definition()).not.toHaveProperty('later');
    await stage();
    expect(await identities()).toEqual(before);
    expect(writes()).toEqual([]);
  });

  test('uninstalled, resources and what they made stay; installed again, it goes on', async () => {
    const before = await ready('ReservedAddr', 'staged');
    await run(['uninstall', release.name]);
    expect(await pod?.stop()).toBe(0);
    pod = undefined;
    const deployment = { name: 'edge-edge-operator', namespace: release.namespace };
    expect(await objects.exists({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: deployment })).toBe(false);
    const left = await objects.get(reference('ReservedAddr', 'staged'));
    expect([left.metadata, left.status]).toEqual([before.metadata, before.status]);
    const account = await objects.get(reference('CloudAccount', 'staging'));
    expect(account.metadata).not.toHaveProperty('deletionTimestamp');
    const secret = { name: account.spec.apiKeySecretRef.name, namespace: 'default' };
    expect(await objects.exists({ apiVersion: 'v1', kind: 'Secret', metadata: secret })).toBe(true);
    await run(['install', release.name, chartDir], values);
    await rollOut();
    await stage({ description: 'd' });
    expect((await ready('ReservedAddr', 'staged')).status.id).toBe(before.status.id);
    expect(writes()).toEqual([`PATCH /reserved_addrs/${before.status.id}`]);
  });

  (hasKubectl ? test : test.skip)('everything goes by the commands of docs/install.md', async () => {
    for (const command of uninstallCommands()) await shell(command);
    await until('the namespace to be gone', async () => !(await objects.exists(namespace(release.namespace))));
    for (const path of ['/reserved_addrs', '/bot_users']) {
      const { body } = await cloud.call('GET', path);
      expect(body[path.slice(1)]).toEqual([]);
    }
    const left = await shell('kubectl get crd,configmap -A -o name');
    expect(left).not.toMatch(/edge-operator\.dev|endpoint-/);
  });

  async function shell(command: string): Promise<string> {
    const [name, ...args] = command.split(' ');
    if (name === 'helm') return helm(args, { env: { KUBECONFIG: kube.kubeconfig } });
    return (await promisify(execFile)('kubectl', [...args, ...kubectlArgs(kube)], { timeout: 60_000 })).stdout;
  }

  async function sampleObjects(): Promise<readonly Rendered[]> {
    const texts = ['reservedaddr', 'botuser'].map((file) => readFileSync(join(samples, `${file}.yaml`), 'utf8'));
    return texts.flatMap((text) =>
      parseAllDocuments(text).map((document) => withNamespace(document.toJS() as Rendered)),
    );
  }
});

/** As docs/install.md has them, for the release of these tests. */
function uninstallCommands(): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs/install.md'), 'utf8');
  const block = /^## Uninstall$.*?^```sh\n(.*?)\n```$/ms.exec(text)?.[1] ?? '';
  const named = block
    .replaceAll('uninstall edge-operator', `uninstall ${release.name}`)
    .replaceAll(/(-n|namespace) edge-operator/g, `$1 ${release.namespace}`);
  return named.split('\n');
}

function withNamespace(object: Rendered): Rendered {
  return { ...object, metadata: { ...object.metadata, namespace: 'default' } };
}
