import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { version } from '../../../src/common/version.ts';
import { definitions } from '../../../src/operator/kinds/index.ts';
import { conditionOf, type ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import { until } from '../../support/until.ts';
import { type Cluster, onCluster, startCluster } from '../cluster.ts';
import { type Flux, hasFlux, startFlux } from './controllers.ts';
import { type Registry, startRegistry } from './registry.ts';
import { type Repository, startRepository } from './repository.ts';

/* docs/gitops.md with Flux's own controllers: deploy/flux as it is, but for the addresses that are to be put there. */

const deploy = join(import.meta.dirname, '../../../deploy');
const operator = { name: 'edge-operator', namespace: 'edge-operator' };

let cluster: Cluster;
let flux: Flux;
let repository: Repository;
let registry: Registry;
let bootstrap: string;

const withFlux = hasFlux ? onCluster : describe.skip;

/** A manifest where the Kustomization finds it. */
const manifest = (kind: string, name: string, spec: object, file = name) => ({
  [`deploy/edge/${file}.yaml`]: JSON.stringify({
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind,
    metadata: { name },
    spec,
  }),
});
/** What deploy/edge has, as it is. */
const shippedResources = () =>
  Object.fromEntries(
    readdirSync(join(deploy, 'edge')).map((name) => [
      `deploy/edge/${name}`,
      readFileSync(join(deploy, 'edge', name), 'utf8'),
    ]),
  );
/** The description of its ReservedAddr. */
const shipped = 'Postgres of the staging cluster';
const resource = (kind: string, name: string) =>
  ({ kind, metadata: { namespace: 'edge', name } }) as unknown as ManagedObject;
const addrs = async (): Promise<readonly { id: string; description: string }[]> =>
  (await cluster.cloud.call('GET', '/reserved_addrs')).body.reserved_addrs;

/** How many of the operator's definitions are there to stay. */
async function definitionCount(): Promise<number> {
  const found = await cluster.kubectl('get', 'crd', '-l', 'app.kubernetes.io/part-of=edge-operator', '-o', 'json');
  const { items } = JSON.parse(found) as { items: readonly { metadata: { deletionTimestamp?: string } }[] };
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
}

/** Waits until Ready of one of Flux's objects is so, and answers its message. */
async function ready(kind: string, name: string, status: 'True' | 'False', since?: string): Promise<string> {
  let last: unknown;
  const probe = async () => {
    const text = await cluster.kubectl('-n', 'flux-system', 'get', kind, name, '-o', 'json');
    const { metadata, status: found } = JSON.parse(text);
    const condition = found?.conditions?.find(({ type }: { type: string }) => type === 'Ready');
    last = condition;
    const isCurrent = found?.observedGeneration === metadata.generation;
    const isOfCommit =
      since === undefined || condition?.message.includes(since) || found.lastAttemptedRevision?.includes(since);
    return isCurrent && isOfCommit && condition?.status === status && String(condition.message);
  };
  return until(`${kind} ${name} to be ${status}`, probe, 90_000).catch((error) => {
    throw new Error(`${error.message}: ${JSON.stringify(last)}`);
  });
}

/** Has Flux fetch and apply what is in git now. */
async function sync(): Promise<void> {
  const revision = await repository.head();
  await flux.reconcile('gitrepository', 'edge');
  await until('the source to be fetched', async () =>
    (
      await cluster.kubectl(
        '-n',
        'flux-system',
        'get',
        'gitrepository/edge',
        '-o',
        'jsonpath={.status.artifact.revision}',
      )
    ).includes(revision),
  );
  await flux.reconcile('kustomization', 'edge');
}

withFlux('Flux', () => {
  beforeAll(async () => {
    cluster = await startCluster();
    flux = await startFlux(cluster);
    [repository, registry] = await Promise.all([
      startRepository(cluster.dir, 'v0.1.0'),
      startRegistry(cluster.dir, version),
    ]);
    const manifestOf = (path: string) => readFileSync(join(deploy, 'flux', path), 'utf8');
    bootstrap = join(cluster.dir, 'kustomizations.yaml');
    writeFileSync(
      bootstrap,
      put(manifestOf('kustomizations.yaml'), 'https://github.com/edge-operator/edge-operator', repository.url),
    );
    const release = put(manifestOf('operator/release.yaml'), 'oci://ghcr.io', `oci://${registry.host}`);
    await repository.commit({
      'deploy/flux/operator/release.yaml': put(
        put(release, 'layerSelector:', 'insecure: true\n  layerSelector:'),
        'https://api.example.com',
        cluster.cloud.url,
      ),
      ...shippedResources(),
    });
    await cluster.createNamespaces(operator.namespace);
    await cluster.give('Secret', operator.namespace, 'edge-account', { 'api-key': cluster.cloud.apiKey });
  }, 180_000);
  afterAll(async () => {
    await flux?.stop();
    await Promise.all([repository?.close(), registry?.close()]);
    await cluster?.stop();
  }, 60_000);

  test('installs the operator, then what it manages, and is ready when all of it is', async () => {
    await cluster.kubectl('apply', '-f', bootstrap);
    for (const name of ['edge-operator', 'edge']) await ready('kustomization', name, 'True');
    await cluster.reason(resource('ReservedAddr', 'db'), 'Available');
    await cluster.reason(resource('BotUser', 'deployer'), 'Available');
    expect((await addrs()).map(({ description }) => description)).toEqual([shipped]);
  });

  test('puts back what somebody edits by hand: the resource, and the operator itself', async () => {
    await cluster.apply('ReservedAddr', 'edge', 'db', { description: 'by hand' });
    await until('the edit in the cloud', async () => (await addrs())[0]?.description === 'by hand');
    await cluster.kubectl('-n', operator.namespace, 'scale', 'deployment/edge-operator', '--replicas=0');
    await flux.reconcile('helmrelease', 'edge-operator');
    await flux.reconcile('kustomization', 'edge');
    await until('what git has in the cloud', async () => (await addrs())[0]?.description === shipped, 60_000);
    expect(await cluster.podNames(operator)).toHaveLength(1);
  });

  test('fights with nobody: in peace nothing is written, to the cloud or to the resource', async () => {
    const before = await cluster.reason(resource('ReservedAddr', 'db'), 'Available');
    cluster.cloud.clearRequests();
    for (const name of ['edge-operator', 'edge']) {
      await flux.reconcile('kustomization', name);
      await handled('kustomization', name);
    }
    expect(cluster.cloud.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
    expect((await cluster.get(before))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('is not ready while a resource is refused, and says which; corrected, it is', async () => {
    await repository.commit(manifest('ReservedAddr', 'wrong', { endpointConfigurationID: 'ec_none' }));
    await sync();
    const message = await ready('kustomization', 'edge', 'False', await repository.head());
    expect(message).toContain("ReservedAddr/edge/wrong status: 'Failed'");
    expect(conditionOf((await cluster.get(resource('ReservedAddr', 'wrong'))) as ManagedObject, 'Ready')?.reason).toBe(
      'Rejected',
    );
    await repository.commit(manifest('ReservedAddr', 'wrong', { description: 'corrected' }));
    await sync();
    await ready('kustomization', 'edge', 'True', await repository.head());
    expect((await addrs()).map(({ description }) => description).sort()).toEqual([shipped, 'corrected']);
  });

  test('suspended it changes nothing; resumed it catches up, and prunes what git has no more', async () => {
    const suspend = (is: boolean) =>
      cluster.kubectl(
        '-n',
        'flux-system',
        'patch',
        'kustomization/edge',
        '--type=merge',
        '-p',
        `{"spec":{"suspend":${is}}}`,
      );
    await suspend(true);
    await repository.commit({
      ...manifest('ReservedAddr', 'db', { description: 'changed in git' }, 'reservedaddr'),
      'deploy/edge/wrong.yaml': undefined,
    });
    await sync();
    // By then the other one has applied this commit.
    await flux.reconcile('kustomization', 'edge-operator');
    await ready('kustomization', 'edge-operator', 'True', await repository.head());
    await cluster.reason(resource('ReservedAddr', 'wrong'), 'Available');
    expect((await addrs()).map(({ description }) => description).sort()).toEqual([shipped, 'corrected']);
    await suspend(false);
    await until(
      'git and the cloud to be the same',
      async () => {
        const found = (await addrs()).map(({ description }) => description);
        return found.length === 1 && found[0] === 'changed in git';
      },
      60_000,
    );
    await cluster.gone(resource('ReservedAddr', 'wrong'));
  });

  describe('the wrong order: the operator before what it manages', () => {
    test('its resources wait, and nothing they made is deleted; installed again, it finishes', async () => {
      await cluster.kubectl(
        '-n',
        'flux-system',
        'patch',
        'kustomization/edge-operator',
        '--type=merge',
        '-p',
        '{"spec":{"suspend":true}}',
      );
      await cluster.kubectl('-n', 'flux-system', 'delete', 'helmrelease/edge-operator', '--timeout=60s');
      await until('the pods to be gone', async () => (await cluster.podNames(operator)).length === 0);
      await cluster.kubectl('-n', 'flux-system', 'delete', 'kustomization/edge', '--wait=false');
      await until(
        'the resource to be deleted',
        async () => (await cluster.get(resource('ReservedAddr', 'db')))?.metadata.deletionTimestamp !== undefined,
      );
      expect(await addrs()).toHaveLength(1);
      // Flux's definitions of what is in git bring the operator back.
      await cluster.kubectl(
        '-n',
        'flux-system',
        'patch',
        'kustomization/edge-operator',
        '--type=merge',
        '-p',
        '{"spec":{"suspend":false}}',
      );
      await cluster.kubectl('-n', 'flux-system', 'wait', '--for=delete', 'kustomization/edge', '--timeout=90s');
      expect(await addrs()).toEqual([]);
    });

    test('and with it the definitions: brought back, it finishes, and then all of them are there', async () => {
      await ready('helmrelease', 'edge-operator', 'True');
      const left = await cluster.apply('ReservedAddr', 'edge', 'left', { description: 'left' });
      await cluster.reason(left, 'Available');
      await cluster.scale(operator, 0);
      await cluster.kubectl('delete', 'crd', '-l', 'app.kubernetes.io/part-of=edge-operator', '--wait=false');
      expect((await addrs()).map(({ description }) => description)).toContain('left');
      await flux.reconcile('helmrelease', 'edge-operator');
      await until('what was made to be deleted', async () => (await addrs()).length === 0, 60_000);
      // The one that waited for its resource is gone since.
      await until(
        'every definition',
        async () => {
          await flux.reconcile('helmrelease', 'edge-operator');
          return (await definitionCount()) === definitions.length;
        },
        60_000,
      );
    });
  });

  test('deleting the file at once takes nothing away that is needed', async () => {
    await cluster.kubectl('apply', '-f', bootstrap);
    await ready('kustomization', 'edge', 'True');
    expect(await addrs()).toHaveLength(1);
    await cluster.kubectl('delete', '-f', bootstrap, '--timeout=90s');
    expect(await addrs()).toEqual([]);
    expect(await cluster.podNames(operator)).toHaveLength(1);
  });
});

/** Waits until the object has done what it was asked last. */
async function handled(kind: string, name: string): Promise<void> {
  await until(`${kind} ${name} to have done what it was asked`, async () => {
    const { metadata, status } = JSON.parse(
      await cluster.kubectl('-n', 'flux-system', 'get', kind, name, '-o', 'json'),
    );
    return status.lastHandledReconcileAt === metadata.annotations['reconcile.fluxcd.io/requestedAt'];
  });
  await ready(kind, name, 'True');
}

function put(text: string, placeholder: string, address: string): string {
  expect(text).toContain(placeholder);
  return text.replace(placeholder, address);
}
