import { beforeEach, describe, expect, test } from '@jest/globals';
import { contextOf } from '../../../reconcile/context.fixture.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { DependencyError } from '../../../reconcile/status/outcome.ts';
import { agentError, connection, ReplayWorld } from './replay.fixture.ts';

let here: ReplayWorld;
beforeEach(() => {
  here = new ReplayWorld();
});

test('the intent is recorded, the request is replayed, and nothing follows, whatever happens', async () => {
  here.create({ tunnelName: 'web' });
  await here.reconcile();
  expect(here.steps).toEqual(['status', 'begin', 'replay req_1 on web']);
  expect(here.object?.status).toMatchObject({ completedAt: new Date(here.clock.now()).toISOString() });
  expect(here.conditions()).toBe('Ready=True Available, Complete=True Available');
  const { conditions: before } = here.object?.status ?? {};
  here.nextErrors.set('agentOf', new DependencyError('the agent is gone'));
  await here.reconcile();
  here.restart();
  expect((await here.reconcile()).retry).toEqual({ kind: 'never' });
  expect(here.steps).toHaveLength(3);
  expect(here.object?.status?.conditions).toEqual(before);
});

test('whoever waits for the agent works on nothing meanwhile', async () => {
  const context = contextOf(here.object as ManagedObject, { writer: here.writer, connection });
  here.nextErrors.set('check', undefined);
  const waits: string[][] = [];
  const away = async <T>(wait: () => Promise<T>) => {
    const before = here.steps.length;
    const result = await wait();
    waits.push(here.steps.slice(before));
    return result;
  };
  await here.flow.ensure({ ...context, call: { ...context.call, away } });
  expect(waits).toEqual([['status'], ['check'], ['replay req_1']]);
});

describe('a replay that is refused', () => {
  test.each([
    ['NotFound', 'ExternalNotFound'],
    ['Rejected', 'Rejected'],
  ] as const)('as %s, failed for good; the intent is withdrawn', async (reason, shown) => {
    here.nextErrors.set('replay req_1', agentError(reason, true));
    await here.reconcile();
    await here.reconcile();
    expect(here.steps).toEqual(['status', 'begin', 'replay req_1', 'cancel']);
    expect(here.conditions()).toBe(`Ready=False ${shown}, Stalled=True ${shown}, Failed=True ${shown}`);
    expect(here.object?.status).toMatchObject({ completedAt: expect.any(String) });
    expect(here.object?.metadata.annotations?.[annotation.replayIntent]).toBe('');
  });

  test.each(['Unreachable', 'Unauthorized', 'RateLimited', 'Conflict'] as const)(
    'as %s where nothing was sent, is tried again',
    async (reason) => {
      here.nextErrors.set('replay req_1', agentError(reason, true));
      await expect(here.reconcile()).rejects.toMatchObject({ reason });
      expect(here.object?.status).toBeUndefined();
      here.restart();
      await here.reconcile();
      expect(here.conditions()).toContain('Complete=True');
    },
  );

  test('is tried again also when the intent could not be withdrawn', async () => {
    here.nextErrors.set('replay req_1', agentError('Unreachable', true));
    here.nextErrors.set('cancel', new Error('kubernetes is away'));
    await expect(here.reconcile()).rejects.toThrow('kubernetes is away');
    await here.reconcile();
    expect(here.conditions()).toContain('Complete=True');
  });

  test('is not tried again where an answer was lost, or was a 502 of the agent: it may have run', async () => {
    here.nextErrors.set('replay req_1', agentError('Unreachable', false));
    await here.reconcile();
    here.restart();
    await here.reconcile();
    expect(here.steps).toEqual(['status', 'begin', 'replay req_1']);
    expect(here.conditions()).toContain('Failed=True OutcomeUnknown');
    expect(here.object?.status?.conditions?.[0]?.message).toContain('(requests.replay: said why)');
  });
});

test.each([
  ['agentOf', new DependencyError('no Agent "dev"')],
  ['status', agentError('Unreachable', false)],
])('an agent that is away (%s) costs no write', async (step, error) => {
  here.nextErrors.set(step, error);
  await expect(here.reconcile()).rejects.toBe(error);
  expect(here.steps).not.toContain('begin');
  here.nextErrors.delete(step);
  await here.reconcile();
  expect(here.conditions()).toContain('Complete=True');
});

test('a spec that the CRD let through is refused without a call', async () => {
  here.create({ requestID: '' });
  expect(await here.reconcile()).toMatchObject({
    reason: 'Rejected',
    message: expect.stringContaining('spec.requestID'),
  });
  expect(here.steps).toEqual([]);
});
