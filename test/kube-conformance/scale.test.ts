import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cluster, causes, startCluster, widget } from './cluster.ts';
import { widgetCrd } from './widget-crd.ts';

const scale = {
  specReplicasPath: '.spec.min',
  statusReplicasPath: '.status.observedGeneration',
  labelSelectorPath: '.status.phase',
};
const versions = widgetCrd.spec.versions.map((version) => ({ ...version, subresources: { status: {}, scale } }));

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ ...widgetCrd, spec: { ...widgetCrd.spec, versions } });
});
afterAll(() => cluster.stop());

/** Path of a widget of one replica, of which two are there. */
async function one(): Promise<string> {
  const path = await cluster.fresh();
  await cluster.send('POST', path, widget('a', { min: 1 }));
  await cluster.merge(`${path}/a/status`, { status: { observedGeneration: 2, phase: 'a=b' } });
  return `${path}/a`;
}

const body = (replicas: unknown, metadata: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'a', ...metadata },
  spec: { replicas },
});

test('the scale of an object is read and written', async () => {
  const path = await one();
  const read = await cluster.send('GET', `${path}/scale`);
  expect(read.body).toMatchObject({ ...body(1), status: { replicas: 2, selector: 'a=b' } });
  expect((await cluster.send('PUT', `${path}/scale`, { ...read.body, spec: { replicas: 4 } })).body.spec).toEqual({
    replicas: 4,
  });
  const { body: widget } = await cluster.send('GET', path);
  expect([widget.spec.min, widget.metadata.generation, widget.status.observedGeneration]).toEqual([4, 2, 2]);
  expect((await cluster.merge(`${path}/scale`, { spec: { replicas: 5 } })).body.spec).toEqual({ replicas: 5 });
  const old = await cluster.send('PUT', `${path}/scale`, read.body);
  expect([old.code, old.body.reason]).toEqual([409, 'Conflict']);
});

test('a scale is refused', async () => {
  const path = `${await one()}/scale`;
  const negative = await cluster.merge(path, { spec: { replicas: -1 } });
  expect([negative.code, causes(negative)]).toEqual([
    422,
    ['.spec.min: Invalid value: -1: should be a non-negative integer'],
  ]);
  expect((await cluster.merge(path, { spec: { replicas: 'x' } })).code).toBe(422);
  expect((await cluster.send('PUT', path, body(4, { name: 'b' }))).code).toBe(400);
  expect((await cluster.send('PUT', path, { ...body(4), kind: 'Widget' })).code).toBe(400);
  expect((await cluster.send('DELETE', path)).code).toBe(405);
  expect((await cluster.send('POST', path, body(4))).code).toBe(405);
  expect((await cluster.send('GET', path.replace('/a/', '/nobody/'))).code).toBe(404);
});

test('an object that does not say how many', async () => {
  const path = await cluster.fresh();
  await cluster.send('POST', path, widget('a'));
  expect((await cluster.send('GET', `${path}/a/scale`)).code).toBe(500);
  expect((await cluster.merge(`${path}/a/scale`, { spec: { replicas: 3 } })).code).toBe(422);
});

test('clients discover it', async () => {
  const { body: found } = await cluster.send('GET', '/apis/test.example.com/v1');
  expect(found.resources.find(({ name }: { name: string }) => name === 'widgets/scale')).toEqual({
    name: 'widgets/scale',
    singularName: '',
    namespaced: true,
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: ['get', 'patch', 'update'],
  });
});
