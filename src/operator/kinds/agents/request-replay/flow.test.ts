import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError, type ApiErrorReason } from '../../../../common/http/errors.ts';
import { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import { contextOf } from '../../../reconcile/context.fixture.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import { withoutBulk } from '../../../reconcile/resource/bulk.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import type { Annotations, ObjectWriter } from '../../../reconcile/resource/writer.ts';
import { conditionsFor } from '../../../reconcile/status/conditions.ts';
import { DependencyError, type Report } from '../../../reconcile/status/outcome.ts';
import { ReplayFlow } from './flow.ts';

type Spec = Record<string, unknown>;

/** The resource as Kubernetes has it; `steps` is what happened, in order. */
let object: ManagedObject | undefined;
let steps: string[];
let clock: ManualClock;
let nextErrors: Map<string, unknown>;
let flow: ReplayFlow;

beforeEach(() => {
  [steps, clock, nextErrors] = [[], new ManualClock(), new Map()];
  create({});
  restart();
});

function create(spec: Spec, annotations: Readonly<Record<string, string>> = {}): void {
  object = {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'RequestReplay',
    metadata: { name: 'again', namespace: 'ns', uid: 'u', generation: 1, annotations },
    spec: { agentRef: { name: 'dev' }, requestID: 'req_1', ...spec },
  };
}

/** Another process: it knows what Kubernetes knows. */
function restart(): void {
  let nonces = 0;
  const step = async (name: string) => {
    steps.push(name);
    const error = nextErrors.get(name);
    nextErrors.delete(name);
    if (error !== undefined) throw error;
  };
  flow = new ReplayFlow({
    agentOf: () => {
      if (nextErrors.has('agentOf')) throw nextErrors.get('agentOf');
      const status = { status: 'online', agent_version: '', session: { legs: [] }, uri: '' };
      return {
        status: () => step('status').then(() => status),
        check: async () => {
          if (nextErrors.has('check')) await step('check');
        },
        replay: ({ id, tunnelName }) => step(`replay ${id}${tunnelName ? ` on ${tunnelName}` : ''}`),
      };
    },
    nonce: () => `nonce${nonces++}`,
  });
}

const writer = {
  async sign(read: ManagedObject, annotations: Annotations) {
    await written('begin', { ...read, metadata: withIntent(read, annotations[annotation.replayIntent] ?? '') });
    return object;
  },
  async insist(read: ManagedObject, annotations: (latest: ManagedObject) => Annotations) {
    await written('cancel', { ...read, metadata: withIntent(read, annotations(read)[annotation.replayIntent] ?? '') });
    return object;
  },
  delete: () => written('remove', undefined),
} as unknown as ObjectWriter;

/** An error of a `lost` step is one of the answer only: the write was made. */
async function written(name: string, next: ManagedObject | undefined): Promise<void> {
  steps.push(name);
  const error = nextErrors.get(name) ?? nextErrors.get(`lost ${name}`);
  if (!nextErrors.has(name)) object = next;
  nextErrors.delete(name);
  nextErrors.delete(`lost ${name}`);
  if (error !== undefined) throw error;
}

function withIntent({ metadata }: ManagedObject, intent: string): ManagedObject['metadata'] {
  return { ...metadata, annotations: { ...metadata.annotations, [annotation.replayIntent]: intent } };
}

/** One reconcile; with `settle`, its report becomes the status. */
async function reconcile({ settle = true } = {}): Promise<Report> {
  if (object === undefined) throw new Error('the resource is gone');
  const connection = { key: 'ns/dev', client: undefined };
  const outcome = await flow.ensure(contextOf(object, { writer, connection, now: () => clock.now() }));
  if (outcome.kind === 'reported' && settle) {
    const conditions = conditionsFor(outcome, 1, {
      ...{
        previous: object.status?.conditions ?? [],
        own: ['Complete', 'Failed'],
        asked: [],
        now: new Date(clock.now()),
      },
    });
    object = { ...object, status: { ...object.status, ...outcome.fields, conditions } } as ManagedObject;
  }
  return outcome as Report;
}

const conditions = () =>
  object?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`).join(', ');

const agentError = (reason: ApiErrorReason, definite: boolean) =>
  new ApiError('said why', { operation: 'requests.replay', reason, definite });

test('the intent is recorded, the request is replayed, and nothing follows, whatever happens', async () => {
  create({ tunnelName: 'web' });
  await reconcile();
  expect(steps).toEqual(['status', 'begin', 'replay req_1 on web']);
  expect(object?.status).toMatchObject({ completedAt: new Date(clock.now()).toISOString() });
  expect(conditions()).toBe('Ready=True Available, Complete=True Available');
  const { conditions: before } = object?.status ?? {};
  nextErrors.set('agentOf', new DependencyError('the agent is gone'));
  await reconcile();
  restart();
  expect((await reconcile()).retry).toEqual({ kind: 'never' });
  expect(steps).toHaveLength(3);
  expect(object?.status?.conditions).toEqual(before);
});

test('whoever waits for the agent works on nothing meanwhile', async () => {
  const context = contextOf(object as ManagedObject, { writer, connection: { key: 'ns/dev', client: undefined } });
  nextErrors.set('check', undefined);
  const waits: string[][] = [];
  const away = async <T>(wait: () => Promise<T>) => {
    const before = steps.length;
    const result = await wait();
    waits.push(steps.slice(before));
    return result;
  };
  await flow.ensure({ ...context, call: { ...context.call, away } });
  expect(waits).toEqual([['status'], ['check'], ['replay req_1']]);
});

describe('an operator that dies', () => {
  test('before the intent is recorded, leaves nothing behind', async () => {
    nextErrors.set('begin', new Error('killed'));
    await expect(reconcile()).rejects.toThrow('killed');
    restart();
    await reconcile();
    expect(steps.filter((step) => step.startsWith('replay'))).toHaveLength(1);
    expect(conditions()).toContain('Complete=True');
  });

  test.each([
    ['between intent and request', 'lost begin', 0],
    ['after the request', 'replay req_1', 1],
  ])('%s, is succeeded by one that does not repeat it and says so', async (_, step, sent) => {
    nextErrors.set(step, new Error('killed'));
    await reconcile({ settle: false }).catch(() => {});
    restart();
    await reconcile();
    expect(steps.filter((name) => name.startsWith('replay'))).toHaveLength(sent);
    expect(conditions()).toBe('Ready=False OutcomeUnknown, Stalled=True OutcomeUnknown, Failed=True OutcomeUnknown');
    const begunAt = new Date(clock.now()).toISOString();
    expect(object?.status?.conditions?.[0]?.message).toMatch(
      `the replay begun at ${begunAt} was carried out (the operator was interrupted)`,
    );
  });
});

test('a replay is not sent again beside ninety annotations of a tenant, as a cache keeps them', async () => {
  const notes = Array.from({ length: 90 }, (_, n) => [
    `edge-operator.dev/${`note-${n}`.padEnd(63, 'x')}`,
    'of a tenant',
  ]);
  create({}, Object.fromEntries(notes));
  nextErrors.set('replay req_1', new Error('killed'));
  await reconcile({ settle: false }).catch(() => {});
  restart();
  if (object !== undefined) object = withoutBulk(object);
  await reconcile();
  expect(steps.filter((name) => name.startsWith('replay'))).toHaveLength(1);
});

describe('what this process knows is not unknown to it', () => {
  test('an intent whose answer was lost was not acted on', async () => {
    nextErrors.set('lost begin', new Error('timed out'));
    await expect(reconcile()).rejects.toThrow('timed out');
    await reconcile();
    expect(steps).toEqual(['status', 'begin', 'status', 'begin', 'replay req_1']);
    expect(conditions()).toContain('Complete=True');
  });

  test('nor was it when an older state was read in between', async () => {
    const before = object;
    nextErrors.set('lost begin', new Error('timed out'));
    await expect(reconcile()).rejects.toThrow('timed out');
    const recorded = object;
    object = before;
    nextErrors.set('begin', new Error('conflict'));
    await expect(reconcile()).rejects.toThrow('conflict');
    object = recorded;
    await reconcile();
    expect(conditions()).toContain('Complete=True');
  });

  test('an intent of somebody else is not taken for its own', async () => {
    nextErrors.set('begin', new Error('conflict'));
    await expect(reconcile()).rejects.toThrow('conflict');
    if (object !== undefined) object = { ...object, metadata: withIntent(object, '2026-01-02T03:04:05Z other') };
    await reconcile();
    expect(steps).toEqual(['status', 'begin']);
    expect(conditions()).toContain('Failed=True OutcomeUnknown');
    expect(object?.status?.conditions?.[0]?.message).toContain('begun at 2026-01-02T03:04:05Z was');
  });

  test('an end that somebody wiped, from the annotations too, is written again', async () => {
    await reconcile();
    await reconcile();
    const { status: _, ...bare } = object as ManagedObject;
    object = { ...bare, metadata: { ...bare.metadata, annotations: {} } };
    await reconcile();
    expect(steps).toEqual(['status', 'begin', 'replay req_1']);
    expect(object?.status).toMatchObject({ completedAt: expect.any(String) });
  });

  test.each([
    [false, 'Complete=True Available'],
    [true, 'Failed=True OutcomeUnknown'],
  ])(
    'an end of which somebody took the conditions is no success by that (after a restart: %s)',
    async (again, says) => {
      await reconcile();
      const { status, ...rest } = object as ManagedObject;
      object = { ...rest, status: { ...status, conditions: [] } };
      if (again) restart();
      await reconcile();
      expect(conditions()).toContain(says);
      expect(steps).toEqual(['status', 'begin', 'replay req_1']);
    },
  );

  test('how it ended is what the status says, where that says it', async () => {
    nextErrors.set('replay req_1', agentError('Unreachable', false));
    await reconcile();
    expect(conditions()).toContain('Failed=True OutcomeUnknown');
    const complete = { type: 'Complete', status: 'True', reason: 'Available', message: 'by another process' } as const;
    const { status, ...rest } = object as ManagedObject;
    object = {
      ...rest,
      status: { ...status, conditions: [{ ...complete, lastTransitionTime: '2026-01-02T03:04:05Z' }] },
    };
    await reconcile();
    expect(conditions()).toContain('Complete=True');
  });

  test('an end that is not in the status yet is written the next time', async () => {
    await reconcile({ settle: false });
    await reconcile();
    expect(steps).toEqual(['status', 'begin', 'replay req_1']);
    expect(conditions()).toContain('Complete=True');
  });
});

describe('a replay that is refused', () => {
  test.each([
    ['NotFound', 'ExternalNotFound'],
    ['Rejected', 'Rejected'],
  ] as const)('as %s, failed for good; the intent is withdrawn', async (reason, shown) => {
    nextErrors.set('replay req_1', agentError(reason, true));
    await reconcile();
    await reconcile();
    expect(steps).toEqual(['status', 'begin', 'replay req_1', 'cancel']);
    expect(conditions()).toBe(`Ready=False ${shown}, Stalled=True ${shown}, Failed=True ${shown}`);
    expect(object?.status).toMatchObject({ completedAt: expect.any(String) });
    expect(object?.metadata.annotations?.[annotation.replayIntent]).toBe('');
  });

  test.each(['Unreachable', 'Unauthorized', 'RateLimited', 'Conflict'] as const)(
    'as %s where nothing was sent, is tried again',
    async (reason) => {
      nextErrors.set('replay req_1', agentError(reason, true));
      await expect(reconcile()).rejects.toMatchObject({ reason });
      expect(object?.status).toBeUndefined();
      restart();
      await reconcile();
      expect(conditions()).toContain('Complete=True');
    },
  );

  test('is tried again also when the intent could not be withdrawn', async () => {
    nextErrors.set('replay req_1', agentError('Unreachable', true));
    nextErrors.set('cancel', new Error('kubernetes is away'));
    await expect(reconcile()).rejects.toThrow('kubernetes is away');
    await reconcile();
    expect(conditions()).toContain('Complete=True');
  });

  test.each([
    ['an answer that was lost', agentError('Unreachable', false)],
    ['a 502 of the agent', agentError('Unreachable', false)],
  ])('%s is not tried again: it may have run', async (_, error) => {
    nextErrors.set('replay req_1', error);
    await reconcile();
    restart();
    await reconcile();
    expect(steps).toEqual(['status', 'begin', 'replay req_1']);
    expect(conditions()).toContain('Failed=True OutcomeUnknown');
    expect(object?.status?.conditions?.[0]?.message).toContain('(requests.replay: said why)');
  });
});

test.each([
  ['agentOf', new DependencyError('no Agent "dev"')],
  ['status', agentError('Unreachable', false)],
])('an agent that is away (%s) costs no write', async (step, error) => {
  nextErrors.set(step, error);
  await expect(reconcile()).rejects.toBe(error);
  expect(steps).not.toContain('begin');
  nextErrors.delete(step);
  await reconcile();
  expect(conditions()).toContain('Complete=True');
});

describe('removal after ttlSecondsAfterFinished', () => {
  test.each([
    ['replayed', undefined],
    ['failed', agentError('NotFound', true)],
  ])('of one that %s, counted from its end, by another process too', async (_, error) => {
    create({ ttlSecondsAfterFinished: 60 });
    if (error !== undefined) nextErrors.set('replay req_1', error);
    expect((await reconcile()).retry).toEqual({ kind: 'after', ms: 60_000 });
    clock.advance(59_000);
    restart();
    expect((await reconcile()).retry).toEqual({ kind: 'after', ms: 1_000 });
    clock.advance(1_000);
    expect(await reconcile({ settle: false })).toEqual({ kind: 'finished' });
    expect(steps.at(-1)).toBe('remove');
    expect(object).toBeUndefined();
  });

  test('of 0 seconds waits for the status to tell', async () => {
    create({ ttlSecondsAfterFinished: 0 });
    expect((await reconcile({ settle: false })).retry).toEqual({ kind: 'after', ms: 0 });
    await reconcile();
    expect(steps).not.toContain('remove');
    await reconcile();
    expect(steps.at(-1)).toBe('remove');
  });
});

test('a spec that the CRD let through is refused without a call', async () => {
  create({ requestID: '' });
  expect(await reconcile()).toMatchObject({ reason: 'Rejected', message: expect.stringContaining('spec.requestID') });
  expect(steps).toEqual([]);
});
