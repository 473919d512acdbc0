import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Clock, systemClock } from '../../common/clock.ts';
import { type Log, silentLog } from '../../common/log.ts';
import type { KubeClient } from './client.ts';
import { EventRecorder } from './events.ts';
import { FakeApi, status, until } from './fake-api.fixture.ts';
import type { KubeObject } from './types.ts';

let api: FakeApi;
let client: KubeClient;
let now: number;
let elapsed: number;
let warnings: unknown[];
const log: Log = { ...silentLog, warn: (_message, fields) => void warnings.push(fields) };

beforeEach(async () => {
  api = await FakeApi.start();
  client = await api.client();
  now = Date.UTC(2026, 0, 31, 8, 15, 30, 123);
  elapsed = 0;
  warnings = [];
});

afterEach(() => api.stop());

/** However slow the machine is, as much as is asked for is written. */
const never = () => new AbortController().signal;

function recorder(timeout: Clock['timeout'] = never): EventRecorder {
  return new EventRecorder({
    client,
    instance: 'host-1',
    log,
    clock: { ...systemClock, now: () => now },
    monotonic: { ...systemClock, now: () => elapsed, sleep: async () => {}, timeout },
  });
}

function regarding(name = 'a', namespace: string | undefined = 'default'): KubeObject {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: '7', ...(namespace === '' ? {} : { namespace }) };
  return { apiVersion: 'example.dev/v1', kind: 'Widget', metadata };
}

const created = { type: 'Normal', reason: 'Created', action: 'Create', note: 'created w_1' } as const;
const bodies = () => api.requests.map((request) => JSON.parse(request.body));

test('an event is written as events.k8s.io/v1', async () => {
  const events = recorder();
  events.record({ regarding: regarding(), ...created });
  expect(api.requests).toEqual([]);
  await events.flush();
  expect(api.requests[0]).toMatchObject({ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/default/events' });
  expect(bodies()[0]).toMatchObject({
    metadata: { namespace: 'default', name: expect.stringMatching(/^a\.[0-9a-f]+\.[0-9a-f]{8}$/) },
    eventTime: '2026-01-31T08:15:30.123000Z',
    reportingController: 'edge-operator.dev/operator',
    reportingInstance: 'host-1',
    action: 'Create',
    reason: 'Created',
    type: 'Normal',
    note: 'created w_1',
    regarding: { apiVersion: 'example.dev/v1', kind: 'Widget', namespace: 'default', name: 'a', uid: 'uid-a' },
  });
});

test('the same again within six minutes counts up a series; later it is a new event', async () => {
  const events = recorder();
  for (const minutes of [0, 5, 5, 7]) {
    now += minutes * 60_000;
    elapsed += minutes * 60_000;
    events.record({ regarding: regarding(), ...created });
    await events.flush();
  }
  expect(api.requests.map((request) => request.method)).toEqual(['POST', 'PATCH', 'PATCH', 'POST']);
  expect(bodies()[2]).toEqual({ series: { count: 3, lastObservedTime: '2026-01-31T08:25:30.123000Z' } });
  expect(bodies()[3].series).toBeUndefined();
  expect(bodies()[3].metadata.name).not.toBe(bodies()[0].metadata.name);
});

test('a burst is one write with its count, and other notes, reasons or objects are other events', async () => {
  const events = recorder();
  for (let time = 0; time < 50; time++) events.record({ regarding: regarding(), ...created });
  events.record({ regarding: regarding(), ...created, note: 'another' });
  events.record({ regarding: regarding(), ...created, reason: 'Updated' });
  events.record({ regarding: regarding('b'), ...created });
  await events.flush();
  expect(api.requests.map((request) => request.method)).toEqual(['POST', 'POST', 'POST', 'POST']);
  expect(bodies()[0].series.count).toBe(50);
});

test('a Lease is not kept for events that nobody takes', async () => {
  let isTime = () => {};
  const timeout = (ms: number) => {
    const ended = new AbortController();
    isTime = () => ended.abort(new Error(`${ms} ms`));
    return ended.signal;
  };
  const events = recorder(timeout);
  api.script(
    ({ method }) => method === 'POST',
    () => {},
  );
  events.record({ regarding: regarding(), ...created });
  const flushed = events.flush();
  await until('the event to be sent', () => api.requests.length === 1);
  isTime();
  await flushed;
});

test('a series whose event has expired begins anew', async () => {
  const events = recorder();
  events.record({ regarding: regarding(), ...created });
  await events.flush();
  api.script(
    (request) => request.method === 'PATCH',
    (response) => status(response, 404, 'NotFound'),
  );
  api.script(
    (request) => request.method === 'POST',
    (response) => response.writeHead(201).end('{"metadata":{"name":"x"}}'),
  );
  events.record({ regarding: regarding(), ...created });
  await events.flush();
  expect(api.requests.map((request) => request.method)).toEqual(['POST', 'PATCH', 'POST']);
  expect(bodies()[2]).toMatchObject({ series: { count: 2 } });
  expect(bodies()[2].metadata.resourceVersion).toBeUndefined();
});

test('an event whose first write had no answer is there, and is counted on', async () => {
  const events = recorder();
  api.script(
    (request) => request.method === 'POST',
    (response) => response.socket?.resetAndDestroy(),
  );
  events.record({ regarding: regarding(), ...created });
  await events.flush();
  api.script(
    (request) => request.method === 'POST',
    (response) => status(response, 409, 'AlreadyExists'),
  );
  for (let time = 0; time < 2; time++) {
    api.script(
      (request) => request.method === 'PATCH',
      (response) => response.writeHead(200).end('{"metadata":{"name":"x"}}'),
    );
    events.record({ regarding: regarding(), ...created });
    await events.flush();
  }
  expect(api.requests.map((request) => request.method)).toEqual(['POST', 'POST', 'PATCH', 'PATCH']);
  expect(bodies()[3]).toMatchObject({ series: { count: 3 } });
});

test.each([
  ['a'.repeat(1_024), 1_024],
  ['a'.repeat(1_030), 1_024],
  ['€'.repeat(400), 1_023],
  [`a${'😀'.repeat(300)}`, 1_021],
])('a note is cut at 1024 bytes, between characters', async (note, bytes) => {
  const events = recorder();
  events.record({ regarding: regarding(), ...created, note });
  await events.flush();
  const written: string = bodies()[0].note;
  expect(Buffer.byteLength(written)).toBe(bytes);
  expect(note.startsWith(written)).toBe(true);
});

test('long names stay valid, and what has no namespace has its events in default', async () => {
  const events = recorder();
  events.record({ regarding: regarding(`${'a'.repeat(227)}.b${'c'.repeat(24)}`, ''), ...created });
  await events.flush();
  const { name, namespace } = bodies()[0].metadata;
  expect(name.length).toBeLessThanOrEqual(253);
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  expect(namespace).toBe('default');
});

test('what cannot be written is logged and dropped', async () => {
  const events = recorder();
  api.script(
    () => true,
    (response) => response.socket?.resetAndDestroy(),
  );
  events.record({ regarding: regarding(), ...created });
  events.record({ regarding: regarding('b'), ...created });
  await events.flush();
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ kind: 'Widget', name: 'a', reason: 'Created' });
  expect(api.requests).toHaveLength(2);
});

test('thousands at once are bounded, and the newest survive', async () => {
  const events = recorder();
  for (let index = 0; index < 2_050; index++) events.record({ regarding: regarding(`w${index}`), ...created });
  await events.flush();
  expect(api.requests).toHaveLength(2_000);
  // Of fifty that were dropped.
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ name: 'w0', error: 'too many events at once' });
  expect(bodies().at(-1).regarding.name).toBe('w2049');
});

test('those of another namespace wait for one of each, and are not crowded out', async () => {
  const events = recorder();
  events.record({ regarding: regarding('first', 'others'), ...created });
  for (let index = 0; index < 2_050; index++) events.record({ regarding: regarding(`w${index}`), ...created });
  events.record({ regarding: regarding('last', 'others'), ...created });
  await events.flush();
  const written = bodies().map(({ regarding }) => regarding.name);
  expect(written).toHaveLength(2_000);
  expect(['first', 'last'].map((name) => written.indexOf(name))).toEqual([0, 2]);
});

test('many at once are written little by little, until they are to be written without delay', async () => {
  const sleeps: number[] = [];
  const never = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((_, reject) => {
      sleeps.push(ms);
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  const monotonic = { ...systemClock, now: () => elapsed, sleep: never };
  const events = new EventRecorder({ client, instance: 'host-1', log, clock: systemClock, monotonic });
  for (let index = 0; index < 110; index++) events.record({ regarding: regarding(`w${index}`), ...created });
  await until('the first wait', () => sleeps.length > 0);
  expect(api.requests.length).toBe(101);
  await events.flush();
  expect(api.requests).toHaveLength(110);
});

test('a clock that is set back puts no event off', async () => {
  const sleeps: number[] = [];
  const sleep = async (ms: number) => {
    sleeps.push(ms);
    elapsed += ms;
  };
  const clock = { ...systemClock, now: () => now, sleep };
  const monotonic = { ...clock, now: () => elapsed };
  const events = new EventRecorder({ client, instance: 'host-1', log, clock, monotonic });
  for (const name of ['a', 'b']) events.record({ regarding: regarding(name), ...created });
  await until('the first events', () => api.requests.length === 2);
  now -= 15 * 60_000;
  for (let index = 0; index < 110; index++) events.record({ regarding: regarding(`w${index}`), ...created });
  await until('all events', () => api.requests.length === 112);
  expect(Math.max(...sleeps)).toBeLessThanOrEqual(50);
});
