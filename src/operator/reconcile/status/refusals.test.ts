import { expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { priorityOf } from '../occasion.ts';
import type { Facts } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { DependencyError, MissingError, type Report, report } from './outcome.ts';
import { refusedLately, unlessRefused } from './refusals.ts';

const hourMs = 3_600_000;

/** How often something is attempted in an hour in which each reconcile comes when the one before asks for it. */
async function attemptsInAnHour(attempt: () => Promise<Report>, facts: Facts = {}): Promise<number> {
  let [now, attempts] = [0, 0];
  const context = {
    facts,
    occasion: { requested: false, drift: false, startedAt: 0, lastDue: () => 0 },
    time: { now: () => now, wall: () => now },
    connection: { key: 'default', client: undefined, since: 0 },
  };
  while (now < hourMs) {
    const outcome = await unlessRefused(context, 'a PUT', () => {
      attempts += 1;
      return attempt();
    });
    now += outcome.retry.kind === 'after' ? outcome.retry.ms : 1_000;
  }
  return attempts;
}

test('what the cloud refused is attempted six times an hour', async () => {
  expect(await attemptsInAnHour(async () => report('Rejected', 'no'))).toBe(6);
});

const forbidden = { reason: 'Unauthorized', definite: true, status: 403 } as const;

test.each([
  [
    'put into something that does not exist',
    new MissingError('route r of edge e does not exist'),
    'DependencyNotReady',
  ],
  ['done with a key that may not', new ApiError('403', { ...forbidden, isForbidden: true }), 'Unauthorized'],
])('what is to be %s is attempted soon at first, and then as rarely', async (_, error, reason) => {
  const facts: Facts = {};
  expect(await attemptsInAnHour(async () => Promise.reject(error), facts)).toBeLessThanOrEqual(14);
  const conditions = [{ type: 'Ready', status: 'False', reason, observedGeneration: 1 }];
  const object = { metadata: { generation: 1 }, spec: {}, status: { conditions } } as unknown as ManagedObject;
  expect(priorityOf(object, { ...facts, observed: true })).toBe('resync');
  expect(priorityOf(object, { observed: true })).toBe('change');
  // What the cloud refused is not what it waits for.
  const rejected = { reason: 'Rejected', message: 'no', stalled: true, at: 0, until: 0, pauseMs: 0 } as const;
  expect(priorityOf(object, { observed: true, refused: new Map([['another PUT', rejected]]) })).toBe('change');
});

test.each([
  ['what the resource refers to is', new DependencyError('the account is paused')],
  ['a key that is good for nothing is', new ApiError('replace the API key', forbidden)],
])('%s nothing that the cloud refused', async (_, error) => {
  expect(await attemptsInAnHour(() => Promise.reject(error))).toBe(3_600);
});

test('with another key it is attempted again at once', async () => {
  const facts: Facts = {
    refused: new Map([
      ['a PUT', { reason: 'Rejected', message: 'no', stalled: true, at: 1, until: 600, pauseMs: 600 }],
    ]),
  };
  const context = (since: number) => ({
    facts,
    occasion: { requested: false, drift: false, startedAt: 0, lastDue: () => 0 },
    time: { now: () => 10, wall: () => 10 },
    connection: { key: 'default', client: undefined, since },
  });
  expect(refusedLately(context(0), 'a PUT')).toMatchObject({ reason: 'Rejected', retry: { kind: 'after', ms: 590 } });
  expect(refusedLately(context(5), 'a PUT')).toBeUndefined();
});

test('what was refused with the key before the one in force is attempted again, also if that came meanwhile', async () => {
  const facts: Facts = {};
  let now = 0;
  const connection: { key: string; client: undefined; since: number } = { key: 'default', client: undefined, since: 0 };
  const occasion = { requested: false, drift: false, startedAt: 0, lastDue: () => 0 };
  const context = { facts, occasion, connection, time: { now: () => now, wall: () => now } };
  await unlessRefused(context, 'a PUT', async () => {
    [connection.since, now] = [10, 20];
    return report('Rejected', 'no');
  });
  expect(refusedLately(context, 'a PUT')).toBeUndefined();
});

test('what is left for a while is told as it was when it was attempted', async () => {
  const occasion = { requested: false, drift: false, startedAt: 0, lastDue: () => 0 };
  const connection = { key: 'default', client: undefined, since: 0 };
  const context = { facts: {}, occasion, connection, time: { now: () => 0, wall: () => 0 } };
  const conflict = async () => Promise.reject(new ApiError('409', { reason: 'Conflict', definite: true, status: 409 }));
  const told = async () => {
    const { pauseMs: _, ...told } = await unlessRefused(context, 'a PUT', conflict);
    return told;
  };
  const first = await told();
  expect(first).toMatchObject({ reason: 'Conflict', stalled: false, retry: { kind: 'after', ms: 5_000 } });
  expect(await told()).toEqual(first);
});
