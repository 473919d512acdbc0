import { beforeEach, describe, expect, test } from '@jest/globals';
import { agentError, ReplayWorld } from './replay.fixture.ts';

let here: ReplayWorld;
beforeEach(() => {
  here = new ReplayWorld();
});

describe('removal after ttlSecondsAfterFinished', () => {
  test.each([
    ['replayed', undefined],
    ['failed', agentError('NotFound', true)],
  ])('of one that %s, counted from its end, by another process too', async (_, error) => {
    here.create({ ttlSecondsAfterFinished: 60 });
    if (error !== undefined) here.nextErrors.set('replay req_1', error);
    expect((await here.reconcile()).retry).toEqual({ kind: 'after', ms: 60_000 });
    here.clock.advance(59_000);
    here.restart();
    expect((await here.reconcile()).retry).toEqual({ kind: 'after', ms: 1_000 });
    here.clock.advance(1_000);
    expect(await here.reconcile({ settle: false })).toEqual({ kind: 'finished' });
    expect(here.steps.at(-1)).toBe('remove');
    expect(here.object).toBeUndefined();
  });

  test('of 0 seconds waits for the status to tell', async () => {
    here.create({ ttlSecondsAfterFinished: 0 });
    expect((await here.reconcile({ settle: false })).retry).toEqual({ kind: 'after', ms: 0 });
    await here.reconcile();
    expect(here.steps).not.toContain('remove');
    await here.reconcile();
    expect(here.steps.at(-1)).toBe('remove');
  });
});
