import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { type LogFields, silentLog } from '../../../common/log.ts';
import { KubeError } from '../../kube/errors.ts';
import { ownershipOf } from '../ownership/ownership.ts';
import { annotation } from '../resource/annotations.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { conditionsFor } from './conditions.ts';
import { type Report, type Retry, report, reportFailure } from './outcome.ts';
import { conclude } from './status.ts';
import { Unkept } from './unkept.ts';

type Status = Readonly<Record<string, unknown>>;

/** What is written of a resource that names an external id, and has one, and is of that generation by now. */
async function written(
  named: string,
  id: string | undefined,
  { generation = 1, ...said }: { readonly generation?: number; readonly isForeign?: boolean } = {},
): Promise<Status> {
  const annotations = { [annotation.externalID]: named, [annotation.reconcileAt]: 'now' };
  const object: ManagedObject = {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1, annotations },
    spec: {},
  };
  let status: Status = {};
  const options = {
    cache: { get: () => ({ ...object, metadata: { ...object.metadata, generation } }) },
    ...{ time: { wall: () => 0 }, schedule: { msUntilDue: () => 1 }, log: silentLog },
    ...{
      events: { record: () => {} },
      installation: { name: 'one', wrote: () => {} },
      conditions: [],
      conditionsOf: () => [],
      ownershipOf,
      hasTold: () => false,
    },
    writer: {
      writeStatus: async (_: ManagedObject, next: Status) => {
        status = next;
        return { status };
      },
      isThere: async () => true,
    },
    unkept: new Unkept(),
  };
  await conclude(options, 'ns/a', object, { ...report('ExternalNotFound', 'no', { fields: { id } }), ...said });
  return status;
}

test('what was looked for is on record where the id does not say so', async () => {
  expect(await written('bot_1', undefined)).toMatchObject({ lastHandledExternalID: 'bot_1' });
  expect((await written('bot_1', 'bot_1')).lastHandledExternalID).toBeUndefined();
});

test('what a person asked for is not handled by whoever says that another installation is to', async () => {
  expect(await written('bot_1', undefined)).toMatchObject({ lastHandledReconcileAt: 'now' });
  const said = await written('bot_1', undefined, { isForeign: true });
  expect(said).toMatchObject({ lastHandledReconcileAt: undefined, lastHandledExternalID: undefined });
});

test('what is no id is not, as it may be as long as an annotation', async () => {
  expect((await written('x'.repeat(200_000), undefined)).lastHandledExternalID).toBeUndefined();
});

test('nothing is said of a generation that what is there never had, as after a restore', async () => {
  expect(await written('bot_1', 'bot_1', { generation: 0 })).toEqual({});
  expect(await written('bot_1', 'bot_1', { generation: 2 })).toMatchObject({ observedGeneration: 1 });
});

describe('a definition that does not know a field', () => {
  const unkept = new Unkept();
  const warnings: string[] = [];
  const object: ManagedObject = {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'BotUser', spec: {} },
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
  };

  const concluded = (ms: number, keeps: (status: Status) => Status, isThere = true) =>
    concludedWith({ kind: 'after', ms }, keeps, isThere);

  function concludedWith(retry: Retry, keeps: (status: Status) => Status, isThere = true) {
    const options = {
      ...{ cache: { get: () => object }, time: { wall: () => 0 }, schedule: { msUntilDue: () => 60_000 } },
      ...{
        events: { record: () => {} },
        installation: { name: 'one', wrote: () => {} },
        conditions: [],
        conditionsOf: () => [],
        ownershipOf,
      },
      ...{ hasTold: () => false, unkept, log: { ...silentLog, warn: (line: string) => void warnings.push(line) } },
      writer: {
        writeStatus: async (_: ManagedObject, next: Status) => ({ status: keeps(next) }),
        isThere: async () => isThere,
      },
    };
    const said = report('Updating', 'on its way', { fields: { uri: 'u' }, retry });
    return conclude(options, 'ns/a', object, said);
  }

  const older = ({ uri: _, ...status }: Status) => status;

  test('is told of once, and what waits for its record alone does not ask all the time', async () => {
    expect(await concluded(0, (status) => status)).toMatchObject({ kind: 'after', ms: 0 });
    expect(warnings).toEqual([]);
    expect(await concluded(0, older)).toEqual({ kind: 'backoff' });
    expect(await concluded(1_000, older)).toMatchObject({ kind: 'after', ms: 1_000 });
    expect(warnings).toEqual([
      expect.stringMatching(/^Kubernetes does not keep .* of BotUser: status\.uri; are the def/),
    ]);
  });

  test.each<[Retry, object]>([
    [{ kind: 'backoff' }, { kind: 'backoff' }],
    [
      { kind: 'backoff', atLeastMs: 5, besides: { kind: 'resync' } },
      { kind: 'backoff', atLeastMs: 5, atMostMs: 60_000 },
    ],
    [
      { kind: 'backoff', besides: { kind: 'after', ms: 30_000 } },
      { kind: 'backoff', atMostMs: 30_000 },
    ],
    [
      { kind: 'backoff', besides: { kind: 'after', ms: 0 } },
      { kind: 'backoff', atMostMs: 10_000 },
    ],
    [
      { kind: 'after', ms: 90_000 },
      { kind: 'after', ms: 60_000, priority: 'resync' },
    ],
  ])('with %j drift is looked for when it is due', async (retry, result) => {
    expect(await concludedWith(retry, (status) => status)).toEqual(result);
  });

  test('or any of the status, is told of by the failure of each resource that is there', async () => {
    const absent = () => {
      throw new KubeError('patching', { status: 404, reason: 'NotFound', message: 'not found' });
    };
    const failed =
      /^writing the status of BotUser ns\/a: the resource is there, and has no status subresource; are the def/;
    await expect(concluded(0, absent)).rejects.toThrow(failed);
    expect(await concluded(0, absent, false)).toEqual({ kind: 'done' });
  });
});

describe('what is told', () => {
  const conditions = (reason: string, message: string) => [
    { type: 'Ready', status: reason === 'Available' ? 'True' : 'False', reason, message, lastTransitionTime: '' },
  ];

  async function told(before: readonly [string, string], outcome: Report, hasTold = false) {
    const object = {
      apiVersion: 'edge-operator.dev/v1alpha1',
      kind: 'BotUser',
      metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
      spec: {},
      status: { conditions: conditions(...before) },
    } as unknown as ManagedObject;
    const lines: [string, LogFields | undefined][] = [];
    const events: string[] = [];
    const line = (message: string, fields?: LogFields) => void lines.push([message, fields]);
    const options = {
      ...{ cache: { get: () => object }, time: { wall: () => 0 }, schedule: { msUntilDue: () => 1 } },
      ...{
        log: { ...silentLog, info: line, warn: line },
        installation: { name: 'one', wrote: () => {} },
        conditions: [],
        conditionsOf: () => [],
        ownershipOf,
        hasTold: () => hasTold,
      },
      events: {
        record: ({ type, reason, note }: Record<'type' | 'reason' | 'note', string>) =>
          void events.push(`${type} ${reason} ${note}`),
      },
      writer: { writeStatus: async (_: ManagedObject, status: Status) => ({ status }), isThere: async () => true },
      unkept: new Unkept(),
    };
    await conclude(options, 'ns/a', object, outcome);
    return { events, lines };
  }

  test('a failed call by its id, in the log alone', async () => {
    const options = { reason: 'Unreachable', definite: false, operationID: 'op_1' } as const;
    const { events, lines } = await told(
      ['Available', ''],
      reportFailure(new ApiError('the API answered 503', options)),
    );
    expect(events).toEqual(['Warning Failed Unreachable: the API answered 503']);
    expect(lines).toEqual([['Unreachable: the API answered 503', { event: 'Failed', operationID: 'op_1' }]]);
  });

  test('the end of a trouble', async () => {
    const { events, lines } = await told(['Unreachable', 'no answer'], report('Available', 'fine'));
    expect(events).toEqual(['Normal Recovered Ready again, after Unreachable']);
    expect(lines).toHaveLength(1);
  });

  test.each<[string, readonly [string, string], boolean]>([
    ['when what was done has been told already', ['Unreachable', ''], true],
    ['when there was none', ['Creating', ''], false],
    ['when it was Ready', ['Available', ''], false],
  ])('but not %s', async (_when, before, hasTold) => {
    expect(await told(before, report('Available', 'fine'), hasTold)).toEqual({ events: [], lines: [] });
  });

  test('the same failure once', async () => {
    expect((await told(['Unreachable', 'no answer'], report('Unreachable', 'no answer'))).events).toEqual([]);
  });

  test.each([
    ['longer than a condition shows', 'x'.repeat(2_000)],
    ['cut within a character', `${'x'.repeat(1_022)}🙂${'x'.repeat(1_000)}`],
    ['not of whole characters, as the API server does not keep it', 'a \ud83d'],
  ])('nor one that is %s', async (_, message) => {
    const failure = report('Unreachable', message);
    const [ready] = conditionsFor(failure, 1, { previous: [], own: [], asked: [], now: new Date() });
    const kept = Buffer.from(ready?.message ?? '').toString();
    expect(kept).toBe(ready?.message);
    expect((await told(['Unreachable', kept], failure)).events).toEqual([]);
  });
});
