import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import { KubeClient } from './client.ts';
import { FakeApi, status, until, type Widget, widgetType } from './fake-api.fixture.ts';
import { type KubeSample, observed } from './observed.ts';
import { namespaceType } from './types.ts';

let api: FakeApi;

beforeEach(async () => {
  api = await FakeApi.start();
});

afterEach(() => api.stop());

async function setup() {
  const samples: KubeSample[] = [];
  const watches: string[] = [];
  const observer = {
    onRequest: (sample: KubeSample) => samples.push(sample),
    onWatch: (resource: string) => {
      watches.push(`${resource} open`);
      return { told: () => watches.push('told'), closed: () => watches.push('closed') };
    },
  };
  const connection = observed(await api.connection(), observer, () => 0);
  const seen = () => samples.map(({ verb, resource, status: code }) => `${verb} ${resource} ${code}`);
  return { client: new KubeClient(connection.apart(), systemRuntime), seen, watches };
}

test('each request is told with its verb, resource and status', async () => {
  const { client, seen } = await setup();
  const ref = { namespace: 'default', name: 'a' };
  api.put('a');
  await client.list(widgetType, { namespace: 'default' });
  await client.list(widgetType);
  await client.get(widgetType, ref);
  await client.get(widgetType, { namespace: 'default', name: 'none' });
  await client.patch(widgetType, ref, { type: 'merge', body: {} });
  const status = client.patch(widgetType, ref, { type: 'merge', body: {} }, { subresource: 'status' });
  await expect(status).rejects.toThrow();
  await client.delete(widgetType, ref);
  await client.get(namespaceType, { name: 'default' });
  expect(seen()).toEqual([
    'list widgets 200',
    'list widgets 200',
    'get widgets 200',
    'get widgets 404',
    'patch widgets 200',
    'patch widgets 404',
    'delete widgets 200',
    expect.stringMatching(/^get namespaces /),
  ]);
});

test('so is one without an answer; one that was given up is not', async () => {
  const { client, seen } = await setup();
  api.script(
    () => true,
    (response) => response.destroy(),
  );
  await expect(client.get(widgetType, { namespace: 'default', name: 'a' })).rejects.toThrow();
  expect(seen()).toEqual(['get widgets undefined']);
  const signal = AbortSignal.abort(new Error('given up'));
  await expect(client.list(widgetType, { signal })).rejects.toThrow('given up');
  expect(seen()).toHaveLength(1);
});

test('a watch is open until it is left, and tells when something comes', async () => {
  const { client, seen, watches } = await setup();
  const events = client.watch<Widget>(widgetType, { namespace: 'default', resourceVersion: '1' });
  const first = events.next();
  await until('a watch', () => api.openWatches === 1);
  api.put('a');
  await first;
  expect(watches.slice(0, 2)).toEqual(['widgets open', 'told']);
  await events.return(undefined);
  expect(watches.at(-1)).toBe('closed');
  expect(seen()).toEqual(['watch widgets 200']);
});

test('a list by a watch has a verb of its own, and one that is refused opens nothing', async () => {
  const { client, seen, watches } = await setup();
  api.script(
    () => true,
    (response) => status(response, 403, 'Forbidden'),
  );
  const events = client.watch(widgetType, { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' });
  await expect(events.next()).rejects.toThrow();
  expect([seen(), watches]).toEqual([['watchlist widgets 403'], []]);
});
