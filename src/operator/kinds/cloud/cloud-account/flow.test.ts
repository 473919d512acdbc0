import { expect, test } from '@jest/globals';
import { ApiError } from '../../../../common/http/errors.ts';
import { contextOf } from '../../../reconcile/context.fixture.ts';
import { doubtOf } from '../../../reconcile/external/census.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { conditionsFor } from '../../../reconcile/status/conditions.ts';
import { DependencyError, type Report } from '../../../reconcile/status/outcome.ts';
import { AccountFlow, type AccountFlowOptions } from './flow.ts';

const advice =
  'check that the operator may write ConfigMaps here (endpointMirror.cloudAccounts of the chart), and quotas and policies';

type Context = Parameters<AccountFlow['ensure']>[0];

const none = { present: 0, missing: 0, vouching: 0 };
const muchIsMissing = doubtOf({ before: { ...none, missing: 2 }, made: none }) ?? '';

/** When a person's word on an account was taken for that what vanished from it is gone, by what its users say. */
async function confirmedBy(message: string, reason: string): Promise<number | undefined> {
  const tries: boolean[] = [];
  const tryKey = () => tries.push(true) > 0;
  const account: { confirmedAt?: number } = Object.assign({ key: 'ns/a', url: 'https://api', tryKey });
  const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', message, lastTransitionTime: '' };
  const user = { status: { conditions: [ready] } } as unknown as ManagedObject;
  const entry = { connection: account, whenRead: async () => {}, requireKey: () => 'key', passedSince: () => true };
  const options = {
    accounts: { entry: () => entry },
    mirrors: { stopOther: async () => {}, status: () => undefined, isRunning: () => false },
    dependents: { known: () => [user], enqueue: () => {} },
  } as unknown as AccountFlowOptions;
  const object: ManagedObject = {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'CloudAccount' },
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1, annotations: { [annotation.reconcileAt]: 'now' } },
    spec: { apiKeySecretRef: { name: 'key', key: 'key' } },
  };
  const connection = { key: 'ns/a', client: undefined };
  const asked = contextOf(object, { writer: { record: async () => object }, connection, now: () => 5 });
  const outcome = await new AccountFlow(options).ensure({
    ...asked,
    occasion: { ...asked.occasion, requested: false },
  });
  expect(outcome).toMatchObject({ reason });
  // Before the check: a key that is taken for refused is looked at again.
  expect(tries).toHaveLength(1);
  return account.confirmedAt;
}

test('what vanished is gone by a word on its account where somebody asked for that', async () => {
  expect(await confirmedBy(muchIsMissing, 'Unreachable')).toBe(5);
});

test('and by no word that was about something else', async () => {
  expect(await confirmedBy('thing_1 was not found: making sure that it is gone', 'Available')).toBeUndefined();
});

/** An account that passed its check, and whose ConfigMaps the operator may not delete. */
function setup(
  spec: object,
  status: object,
  more: object = {},
  users: readonly ManagedObject[] = [],
  mirrored: object | undefined = undefined,
) {
  const object = {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'CloudAccount',
    metadata: { name: 'main', namespace: 'team', uid: 'u1', generation: 2 },
    spec: { apiKeySecretRef: { name: 'key', key: 'api-key' }, ...spec },
    status,
  } as unknown as ManagedObject;
  const done: string[] = [];
  const note = (what: string) => async () => void done.push(what);
  const entry = {
    connection: { key: 'team/main', url: 'https://api.example.test' },
    whenRead: async () => {},
    requireKey: () => 'key',
    passedSince: () => true,
    ...more,
  };
  let isAway = false;
  const noteWait = (what: string) => async () => void done.push(isAway ? what : `${what} in the way of others`);
  const away = async (wait: () => Promise<unknown>) => {
    isAway = true;
    return wait().finally(() => {
      isAway = false;
    });
  };
  const mirrors = {
    ...{ start: () => void done.push('start'), stop: noteWait('stop'), stopOther: noteWait('stop') },
    ...{ isRunning: () => false, status: () => mirrored },
    remove: async () => {
      await noteWait('remove')();
      return false;
    },
  };
  const flow = new AccountFlow({
    ...{ accounts: { entry: () => entry }, mirrors, dependents: { of: async () => users, known: () => users } },
    heldSecrets: { letGo: note('let the Secret go') },
  } as unknown as AccountFlowOptions);
  const context = {
    resource: { object, hold: note('hold') },
    call: { away },
    occasion: { requested: false, lastDue: () => 0 },
  } as unknown as Context;
  return { flow, context, done };
}

test('while its users say that much of it is missing, the account is Unreachable, and says the same', async () => {
  const ready = {
    type: 'Ready',
    status: 'False',
    reason: 'Unreachable',
    message: muchIsMissing,
    lastTransitionTime: '',
  };
  const { flow, context } = setup({}, {}, {}, [{ status: { conditions: [ready] } } as unknown as ManagedObject]);
  expect(await flow.ensure(context)).toMatchObject({
    ...{ kind: 'reported', reason: 'Unreachable', stalled: false, fields: { reachable: true, authenticated: true } },
    message: expect.stringMatching(/^2 of 2 objects .* vanished at once: .*reconcile-at on this account$/),
  });
});

test('while no mirror runs an account that fails leaves the condition of its mirror to what is wrong with it', async () => {
  const check = async () => {
    throw new ApiError('no connection', { reason: 'Unreachable', definite: true });
  };
  const { flow, context } = setup({ endpointMirror: {} }, {}, { passedSince: () => false, check });
  const outcome = (await flow.ensure(context)) as Report;
  const options = { previous: [], own: flow.conditions, asked: flow.conditionsOf(context.resource.object) };
  expect(conditionsFor(outcome, 2, { ...options, now: new Date() })).toContainEqual(
    expect.objectContaining({ type: 'EndpointsMirrored', status: 'False', reason: 'Unreachable' }),
  );
});

test('an account does not wait for ConfigMaps that may not be deleted: they go with it', async () => {
  const { flow, context, done } = setup({ endpointMirror: { enabled: true } }, {});
  expect(await flow.remove(context)).toEqual({ kind: 'finished' });
  expect(done).toEqual(['stop', 'remove', 'let the Secret go']);
});

test.each([
  ['that is refused', { connection: undefined, refusal: 'no' }, ['hold', 'remove', 'stop']],
  [
    'without a key',
    {
      requireKey: () => {
        throw new DependencyError('no key');
      },
    },
    ['hold', 'remove', 'stop', 'stop'],
  ],
])(
  'what an account %s has mirrored is removed when that is turned off, and nobody waits for it',
  async (_, more, expected) => {
    const { flow, context, done } = setup({}, { endpointsMirrored: 3 }, more);
    await flow.ensure(context);
    expect(done).toEqual(expected);
  },
);

test.each(['paused', 'gone'])(
  'the mirror of an account that is %s by the time its check has passed stays stopped',
  async (what) => {
    const { flow, context, done } = setup({ endpointMirror: { enabled: true } }, { endpointsMirrored: 0 });
    const { call } = context;
    const superseded = { ...context, call: { ...call, signal: AbortSignal.abort() } };
    const isCached = what !== 'gone';
    const now = {
      ...(what === 'gone' ? context : superseded),
      peers: { isCached: () => isCached },
    } as unknown as Context;
    expect(await flow.ensure(now)).toEqual({ kind: 'finished' });
    expect(done).not.toContain('start');
  },
);

test('that there is a mirror is in the status before it writes anything: whoever goes on can remove it', async () => {
  const { flow, context, done } = setup({ endpointMirror: { enabled: true } }, {});
  expect(await flow.ensure(context)).toMatchObject({
    fields: { endpointsMirrored: 0 },
    retry: { kind: 'after', ms: 0 },
  });
  expect(done).toEqual(['hold', 'stop']);
});

test('an account whose mirror was turned off is usable, and says what may not be deleted', async () => {
  const { flow, context } = setup({}, { endpointsMirrored: 3 });
  expect(await flow.ensure(context)).toMatchObject({
    reason: 'Available',
    fields: { endpointsMirrored: 3 },
    parts: [
      {
        condition: 'EndpointsMirrored',
        report: {
          reason: 'DependencyNotReady',
          message: `the operator may not delete the ConfigMaps of the endpoints in this namespace; ${advice}`,
        },
      },
    ],
  });
});

test('an account that fails shows how many endpoints are mirrored all the same', async () => {
  const check = async () => {
    throw new ApiError('no', { reason: 'Unauthorized', definite: true });
  };
  const mirrored = { sweptAt: 1, synced: true, endpoints: 5 };
  const failing = { passedSince: () => false, check };
  const { flow, context } = setup({ endpointMirror: {} }, { endpointsMirrored: 0 }, failing, [], mirrored);
  expect(await flow.ensure(context)).toMatchObject({ reason: 'Unauthorized', fields: { endpointsMirrored: 5 } });
});

test.each([
  [
    'of a right',
    { error: 'creating ConfigMap team/e: no right to that', cause: 'no right' as const },
    'DependencyNotReady',
    `creating ConfigMap team/e: no right to that; ${advice}`,
  ],
  ['of an answer', { error: 'no answer', cause: undefined }, 'Updating', 'no answer'],
  ['of a name', { error: 'ConfigMap team/e is left alone', cause: 'in the way' as const }, 'Conflict', /left alone$/],
])('a mirror that fails for want %s says so', async (_, mirrored, reason, message) => {
  const { flow, context } = setup({ endpointMirror: {} }, { endpointsMirrored: 0 }, {}, [], mirrored);
  const now = { ...context, peers: { isCached: () => true } } as unknown as Context;
  expect(await flow.ensure(now)).toMatchObject({
    reason: 'Available',
    parts: [{ condition: 'EndpointsMirrored', report: { reason, message } }],
  });
});

test.each(['standDown', 'forget'] as const)('the mirror ends with what runs for the account: %s', (how) => {
  const { flow, context, done } = setup({}, {});
  flow[how](context.resource.object);
  expect(done).toEqual(['stop in the way of others']);
});
