import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { annotation, finalizer } from '../../src/operator/reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { kubeRequests } from '../support/kube-api.ts';
import { secretType, startWorld, type World } from '../support/world.ts';
import { agentKinds } from './agent-states.ts';
import { cloudKinds, prepare } from './cloud-states.ts';
import type { Rendered } from './helm.ts';
import { type Lab, openLab } from './lab.ts';
import { Objects } from './objects.ts';
import { driveOf } from './states.ts';

/* What docs/gitops.md promises to those who keep resources in git. */

const deploy = join(import.meta.dirname, '../../deploy');

let world: World;
let lab: Lab;
beforeAll(async () => {
  world = await startWorld();
  lab = await openLab(world, { operator: true });
  await prepare(lab);
});
afterAll(async () => {
  await lab?.close();
  await world?.stop();
});

/** What is in git: the last manifest that was applied under each kind and name. */
class Repository {
  readonly #manifests = new Map<string, Rendered>();

  /** The lab, with a note of all that is applied. */
  of(lab: Lab): Lab {
    return {
      ...lab,
      apply: async (kind, spec, more) => {
        const object = await lab.apply(kind, spec, more);
        const { name, namespace } = object.metadata;
        const metadata = { name, namespace: namespace ?? '', annotations: more?.annotations ?? {} };
        this.#manifests.set(`${kind}/${name}`, { apiVersion: object.apiVersion, kind, metadata, spec } as Rendered);
        return object;
      },
    };
  }

  manifest({ kind, metadata }: ManagedObject): Rendered {
    return this.#manifests.get(`${kind}/${metadata.name}`) as Rendered;
  }
}

describe.each([...cloudKinds, ...agentKinds])('$kind', (kind) => {
  const repository = new Repository();
  let object: ManagedObject;
  beforeAll(async () => {
    object = (await driveOf(kind, 'ready')?.(repository.of(lab))) as ManagedObject;
  });

  test('the operator writes annotations of its own, its finalizer and the status, and nothing else', () => {
    const written = fieldsOf(object, 'edge-operator');
    expect(written.filter((field) => !allowed.has(field))).toEqual([]);
    const { finalizers = [], annotations = {} } = object.metadata;
    const marks = [
      ...finalizers.map((name) => `finalizer ${name}`),
      ...Object.keys(annotations).map((name) => `annotation ${name}`),
    ];
    expect(written).toEqual(expect.arrayContaining(['status', ...marks]));
  });

  test('applied once more in a dry run, as both tools compare, it is as it was: no drift', async () => {
    const objects = new Objects(kubeRequests(world.kube.url, world.kube.token));
    const compared = ({ spec, metadata }: ManagedObject | Rendered) => ({
      spec,
      annotations: metadata.annotations,
      labels: metadata.labels,
      generation: metadata.generation,
    });
    const again = await objects.apply(repository.manifest(object), { dryRun: true });
    expect(compared(again)).toEqual(compared((await world.get(object)) as ManagedObject));
  });
});

const { paused: _paused, reconcileAt: _reconcileAt, forceOrphan: _forceOrphan, ...own } = annotation;
const allowed = new Set([
  'status',
  `finalizer ${finalizer}`,
  ...Object.values(own).map((name) => `annotation ${name}`),
]);

/** What a manager has written, by the API server's own record. */
function fieldsOf({ metadata }: ManagedObject, manager: string): readonly string[] {
  const entries = (metadata as { managedFields?: readonly ManagedFields[] }).managedFields ?? [];
  return entries
    .filter((entry) => entry.manager === manager)
    .flatMap(({ fieldsV1 }) => Object.entries(fieldsV1).flatMap(([field, inner]) => named(field.slice(2), inner)));
}

interface ManagedFields {
  readonly manager: string;
  readonly fieldsV1: Readonly<Record<string, Fields>>;
}
type Fields = Readonly<Record<string, object>>;

function named(field: string, inner: Fields): readonly string[] {
  if (field !== 'metadata') return [field];
  return Object.entries(inner).flatMap(([key, entries]) => {
    const name = key.slice(2).replace(/s$/, '');
    const keys = Object.keys(entries).filter((each) => each !== '.');
    return keys.map((each) => `${name} ${each.slice(2).replaceAll('"', '')}`);
  });
}

test('annotations of git come and go; those of the operator stay', async () => {
  const apply = (more: object) => lab.apply('BotUser', { name: 'bot' }, { name: 'annotated', ...more });
  const before = await world.reason(await apply({}), 'Available');
  await world.reason(await apply({ annotations: { [annotation.paused]: 'true' } }), 'Paused');
  lab.cloud.clearRequests();
  const after = await world.reason(await apply({}), 'Available');
  expect(after.metadata.annotations).toEqual(before.metadata.annotations);
  expect(lab.cloud.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('pruned with its account and the Secret, those first, a resource takes its external object along', async () => {
  const { apply, give, namespace } = lab;
  await give('Secret', 'pruned', { key: lab.cloud.apiKey });
  const account = await apply('CloudAccount', { apiKeySecretRef: { name: 'pruned', key: 'key' } }, { name: 'pruned' });
  const spec = { name: 'bot', accountRef: { name: 'pruned' } };
  const bot = await world.reason(await apply('BotUser', spec, { name: 'pruned' }), 'Available');
  await world.client.delete(secretType, { name: 'pruned', namespace });
  await world.delete(account);
  await world.delete(bot);
  await Promise.all([world.gone(bot), world.gone(account)]);
  expect((await lab.cloud.call('GET', `/bot_users/${bot.status?.id}`)).status).toBe(404);
});

describe('the examples', () => {
  const read = (path: string) => parseAllDocuments(readFileSync(join(deploy, path), 'utf8')).map((each) => each.toJS());

  test('compare by dry run, and what is managed goes before the operator', () => {
    const [operator, managed] = read('argocd/application.yaml');
    for (const { metadata } of [operator, managed])
      expect(metadata.annotations['argocd.argoproj.io/compare-options']).toBe('ServerSideDiff=true');
    const wave = ({ metadata }: Rendered) => Number(metadata.annotations?.['argocd.argoproj.io/sync-wave']);
    expect(wave(managed)).toBeGreaterThan(wave(operator));
    expect(managed.metadata.finalizers).toEqual(['resources-finalizer.argocd.argoproj.io']);
    expect(operator.metadata.finalizers).toBeUndefined();
  });

  test('bring the namespaces that they name, and Flux waits for what it prunes', () => {
    const objects = read('flux/kustomizations.yaml');
    const managed = objects.find(({ spec }) => spec?.targetNamespace !== undefined);
    const namespaces = objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name);
    expect(namespaces).toEqual([managed.spec.targetNamespace]);
    expect([managed.spec.wait, managed.spec.deletionPolicy]).toEqual([true, 'WaitForTermination']);
  });
});
