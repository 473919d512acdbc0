import { beforeEach, describe, expect, test } from '@jest/globals';
import { withoutBulk } from '../../../reconcile/resource/bulk.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { agentError, ReplayWorld, withIntent } from './replay.fixture.ts';

/* A replay cannot be looked up: what is on record, or what this process knows, says whether it was sent. */

let here: ReplayWorld;
beforeEach(() => {
  here = new ReplayWorld();
});

describe('an operator that dies', () => {
  test('before the intent is recorded, leaves nothing behind', async () => {
    here.nextErrors.set('begin', new Error('killed'));
    await expect(here.reconcile()).rejects.toThrow('killed');
    here.restart();
    await here.reconcile();
    expect(here.steps.filter((step) => step.startsWith('replay'))).toHaveLength(1);
    expect(here.conditions()).toContain('Complete=True');
  });

  test.each([
    ['between intent and request', 'lost begin', 0],
    ['after the request', 'replay req_1', 1],
  ])('%s, is succeeded by one that does not repeat it and says so', async (_, step, sent) => {
    here.nextErrors.set(step, new Error('killed'));
    await here.reconcile({ settle: false }).catch(() => {});
    here.restart();
    await here.reconcile();
    expect(here.steps.filter((name) => name.startsWith('replay'))).toHaveLength(sent);
    expect(here.conditions()).toBe(
      'Ready=False OutcomeUnknown, Stalled=True OutcomeUnknown, Failed=True OutcomeUnknown',
    );
    const begunAt = new Date(here.clock.now()).toISOString();
    expect(here.object?.status?.conditions?.[0]?.message).toMatch(
      `the replay begun at ${begunAt} was carried out (the operator was interrupted)`,
    );
  });
});

test('a replay is not sent again beside ninety annotations of a tenant, as a cache keeps them', async () => {
  const notes = Array.from({ length: 90 }, (_, n) => [
    `edge-operator.dev/${`note-${n}`.padEnd(63, 'x')}`,
    'of a tenant',
  ]);
  here.create({}, Object.fromEntries(notes));
  here.nextErrors.set('replay req_1', new Error('killed'));
  await here.reconcile({ settle: false }).catch(() => {});
  here.restart();
  if (here.object !== undefined) here.object = withoutBulk(here.object);
  await here.reconcile();
  expect(here.steps.filter((name) => name.startsWith('replay'))).toHaveLength(1);
});

describe('what this process knows is not unknown to it', () => {
  test('an intent whose answer was lost was not acted on', async () => {
    here.nextErrors.set('lost begin', new Error('timed out'));
    await expect(here.reconcile()).rejects.toThrow('timed out');
    await here.reconcile();
    expect(here.steps).toEqual(['status', 'begin', 'status', 'begin', 'replay req_1']);
    expect(here.conditions()).toContain('Complete=True');
  });

  test('nor was it when an older state was read in between', async () => {
    const before = here.object;
    here.nextErrors.set('lost begin', new Error('timed out'));
    await expect(here.reconcile()).rejects.toThrow('timed out');
    const recorded = here.object;
    here.object = before;
    here.nextErrors.set('begin', new Error('conflict'));
    await expect(here.reconcile()).rejects.toThrow('conflict');
    here.object = recorded;
    await here.reconcile();
    expect(here.conditions()).toContain('Complete=True');
  });

  test('an intent of somebody else is not taken for its own', async () => {
    here.nextErrors.set('begin', new Error('conflict'));
    await expect(here.reconcile()).rejects.toThrow('conflict');
    if (here.object !== undefined) here.object = withIntent(here.object, '2026-01-02T03:04:05Z other');
    await here.reconcile();
    expect(here.steps).toEqual(['status', 'begin']);
    expect(here.conditions()).toContain('Failed=True OutcomeUnknown');
    expect(here.object?.status?.conditions?.[0]?.message).toContain('begun at 2026-01-02T03:04:05Z was');
  });

  test('an end that somebody wiped, from the annotations too, is written again', async () => {
    await here.reconcile();
    await here.reconcile();
    const { status: _, ...bare } = here.object as ManagedObject;
    here.object = { ...bare, metadata: { ...bare.metadata, annotations: {} } };
    await here.reconcile();
    expect(here.steps).toEqual(['status', 'begin', 'replay req_1']);
    expect(here.object?.status).toMatchObject({ completedAt: expect.any(String) });
  });

  test.each([
    [false, 'Complete=True Available'],
    [true, 'Failed=True OutcomeUnknown'],
  ])(
    'an end of which somebody took the conditions is no success by that (after a restart: %s)',
    async (again, says) => {
      await here.reconcile();
      const { status, ...rest } = here.object as ManagedObject;
      here.object = { ...rest, status: { ...status, conditions: [] } };
      if (again) here.restart();
      await here.reconcile();
      expect(here.conditions()).toContain(says);
      expect(here.steps).toEqual(['status', 'begin', 'replay req_1']);
    },
  );

  test('how it ended is what the status says, where that says it', async () => {
    here.nextErrors.set('replay req_1', agentError('Unreachable', false));
    await here.reconcile();
    expect(here.conditions()).toContain('Failed=True OutcomeUnknown');
    const complete = { type: 'Complete', status: 'True', reason: 'Available', message: 'by another process' } as const;
    const { status, ...rest } = here.object as ManagedObject;
    here.object = {
      ...rest,
      status: { ...status, conditions: [{ ...complete, lastTransitionTime: '2026-01-02T03:04:05Z' }] },
    };
    await here.reconcile();
    expect(here.conditions()).toContain('Complete=True');
  });

  test('an end that is not in the status yet is written the next time', async () => {
    await here.reconcile({ settle: false });
    await here.reconcile();
    expect(here.steps).toEqual(['status', 'begin', 'replay req_1']);
    expect(here.conditions()).toContain('Complete=True');
  });
});
