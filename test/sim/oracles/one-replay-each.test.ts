import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Act } from '../core/story.ts';
import { oneReplayEach } from './one-replay-each.ts';
import { available, condition, FakeWorld, operator } from './witness/witness.fixture.ts';

const intent = 'edge-operator.dev/replay-intent';
const spec = { agentRef: { name: 'edge' }, requestID: 'abc' };
const completedAt = '2030-01-01T00:00:00Z';
const other = 'op-1.0';

let world: FakeWorld;
let judge: ReturnType<FakeWorld['judge']>;

async function begin(...acts: readonly Act[]) {
  world = new FakeWorld({ acts });
  judge = world.judge(oneReplayEach);
  await world.write('Agent', 'edge', { spec: { url: 'http://agent-a.sim' } });
}

beforeEach(() => begin());

async function spoke() {
  await judge.atRest?.();
  return world.said.map((line) => line.replace('one-replay-each: ', ''));
}

const ask = (name = 'replay', more: object = {}) => world.write('RequestReplay', name, { spec: { ...spec, ...more } });

async function record(name = 'replay', by: string | undefined = operator) {
  await world.write('RequestReplay', name, { annotations: { [intent]: `now by ${by}` }, ...(by && { by }) });
  await world.pass(10);
}

async function send(more: object = {}) {
  const body = { id: 'abc' };
  await world.call({ method: 'POST', path: '/api/requests/http', body, service: 'agent-a', ...more });
  await world.pass(1_000);
}

const finish = (name = 'replay') =>
  world.write('RequestReplay', name, { status: available(1, { completedAt }), by: operator });

async function recorded(name = 'replay', by = operator) {
  await ask(name);
  await record(name, by);
}

const post = 'POST of agent-a.sim:80 {"id":"abc"} by';
const twice = `${post} op-0.0: it was sent for RequestReplay a/replay before`;
const offRecord = `${post} op-0.0: nobody has it on record`;

test('one each, and what people send', async () => {
  await recorded('one');
  await send();
  await finish('one');
  await recorded('two');
  await send();
  await send({ by: 'person' });
  await send({ by: 'person' });
  expect(await spoke()).toEqual([]);
});

describe('is not sent', () => {
  test('twice', async () => {
    await recorded();
    await send();
    await finish();
    await send();
    expect(await spoke()).toEqual([twice]);
  });

  test.each([
    ['whose answer was lost', { arrives: false }],
    ['that the agent never saw', { instead: true, arrives: false }],
    ['that failed in the agent', { status: 500 }],
    ['of which a gateway lost sight', { status: 408, instead: true }],
  ])('again after one %s', async (_, first) => {
    await recorded();
    await send(first);
    await record('replay', other);
    await send({ by: other });
    expect(await spoke()).toEqual([twice.replace('op-0.0', other)]);
  });

  test('more often than there are resources that ask for it', async () => {
    for (const name of ['one', 'two']) await recorded(name);
    for (let times = 0; times < 3; times += 1) await send();
    const names = 'RequestReplay a/one and RequestReplay a/two';
    expect(await spoke()).toEqual([`${post} op-0.0: it was sent for ${names} before`]);
  });

  test('for one who has it already, where another of the same began since', async () => {
    await recorded('one');
    await send();
    await recorded('two', other);
    await send();
    expect(await spoke()).toEqual([`${post} op-0.0: it was sent for RequestReplay a/one before`]);
  });

  test.each([
    ['nobody has it on record', () => ask()],
    ['another process has', () => recorded('replay', other)],
    ['a person wrote that', () => recorded('replay', '')],
    ['it is of another request', () => ask('replay', { requestID: 'other' }).then(() => record())],
    ['it is of another tunnel', () => ask('replay', { tunnelName: 'web' }).then(() => record())],
    ['it is of another agent', () => ask('replay', { agentRef: { name: 'else' } }).then(() => record())],
  ])('where %s', async (_, happens) => {
    await happens();
    await send();
    expect(await spoke()).toEqual([offRecord]);
  });

  test('where it is finished, though another process begins it', async () => {
    await recorded();
    await send({ status: 404 });
    await finish();
    await record('replay', other);
    await send({ by: other });
    expect(await spoke()).toEqual([offRecord.replace(operator, other)]);
  });

  test('where its resource is long gone', async () => {
    await recorded();
    await world.remove('RequestReplay', 'replay');
    await world.pass(60_000);
    await send();
    expect(await spoke()).toEqual([offRecord]);
  });
});

describe('what was answered is not unknown', () => {
  const unknown = { conditions: [condition('Failed', 'True', 'OutcomeUnknown', 1)] };
  const says = () => world.write('RequestReplay', 'replay', { status: unknown, by: operator });

  test.each([
    ['to one that goes on', {}, async () => {}, 1],
    ['to one that was replaced', {}, async () => world.begin('op-0.1'), 0],
    ['with a 500', { status: 500 }, async () => {}, 0],
    ['but not heard', { arrives: false }, async () => {}, 0],
  ])('%s', async (_, how, happens, times) => {
    await recorded();
    await send(how);
    await happens();
    await says();
    expect(await spoke()).toHaveLength(times);
  });
});

describe('is sent again', () => {
  test.each([400, 401, 404, 409, 429])('after a %d', async (status) => {
    await recorded();
    await send({ status });
    await send();
    expect(await spoke()).toEqual([]);
    await send();
    expect(await spoke()).toEqual([twice]);
  });

  test('where nothing could be connected to', async () => {
    await begin({ at: 0, do: 'trouble', name: 'refused-connections', forMs: 500, with: { to: 'agents' } });
    await recorded();
    await send({ instead: true, arrives: false });
    await send();
    expect(await spoke()).toEqual([]);
    await send();
    expect(await spoke()).toEqual([twice]);
  });

  test('for another resource of the name', async () => {
    await recorded();
    await send();
    await world.remove('RequestReplay', 'replay');
    await recorded();
    await send();
    expect(await spoke()).toEqual([]);
  });

  test('where Kubernetes was restored from a backup of before', async () => {
    await begin({ at: 0, do: 'trouble', name: 'kube-restored', forMs: 500 });
    await recorded();
    await send();
    await record();
    await send();
    expect(await spoke()).toEqual([]);
  });

  test.each([
    ['and not if the status tells of it', {}, undefined, [twice]],
    ['where the status tells of nothing', {}, {}, []],
    ['and not where the operator took it', { by: operator }, {}, [twice]],
  ])('where a person took it from the record, %s', async (_, by, status, said) => {
    await recorded();
    await send();
    await finish();
    await world.write('RequestReplay', 'replay', { annotations: { [intent]: null }, ...by });
    if (status !== undefined) await world.write('RequestReplay', 'replay', { status });
    await record();
    await send();
    expect(await spoke()).toEqual(said);
  });
});

describe('is Complete', () => {
  const complete = { completedAt, conditions: [condition('Complete', 'True', 'Available', 1)] };
  const says = () => world.write('RequestReplay', 'replay', { status: complete, by: operator });

  test('once it was answered', async () => {
    await recorded();
    await send();
    await says();
    expect(await spoke()).toEqual([]);
  });

  test.each([
    ['was not sent', async () => {}],
    ['was not answered', () => send({ arrives: false })],
    ['was refused', () => send({ status: 404 })],
  ])('and is not if it %s', async (_, happens) => {
    await recorded();
    await happens();
    await says();
    expect(await spoke()).toEqual(['RequestReplay a/replay says Complete=True, but nothing was answered to it']);
  });
});
