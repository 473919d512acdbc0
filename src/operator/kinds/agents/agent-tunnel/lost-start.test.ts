import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { startedOf } from './started.ts';
import { agentURL, createSettleMs, TunnelWorld } from './tunnel.fixture.ts';

let here: TunnelWorld;
beforeEach(() => {
  here = new TunnelWorld();
});

/** The first POST has no answer, and is carried out just before the second. */
async function startLate(edit: Partial<ManagedObject['spec']> = {}): Promise<void> {
  here.fails('Unreachable');
  expect(await here.reconcile()).toBe('Unreachable');
  here.edit(edit);
  here.fails('Rejected', () => {
    here.running = here.late;
  });
  expect(await here.reconcile()).toBe('Rejected');
}

test('a tunnel that came late, and whose name is refused as in use, goes with its resource', async () => {
  await startLate();
  if (!here.flow.leavesNothing(here.object)) await here.remove();
  expect(here.running).toBeUndefined();
});

test('one that came late as it was asked for before is replaced, and no Conflict', async () => {
  await startLate({ addr: '9090' });
  here.starts();
  expect(await here.reconcile()).toBe('Available');
  expect(here.running).toMatchObject({ config: { addr: '9090' } });
});

describe('a start without an answer', () => {
  const lose = async () => {
    here.fails('Unreachable');
    expect(await here.reconcile()).toBe('Unreachable');
  };

  test.each([
    ['is deleted', undefined],
    ['asks for another name', { tunnelName: 'other' }],
  ])('is waited for where its resource %s, and what it started is stopped', async (_, edit) => {
    await lose();
    here.edit(edit);
    const step = () => (edit === undefined ? here.remove() : here.ensure());
    expect(await step()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
    here.now += 1_000;
    here.running = here.late;
    expect(await step()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs - 1_000 } });
    expect(here.running).toBeUndefined();
    here.now += createSettleMs;
    here.starts();
    await step();
    expect(here.running?.name).toBe(edit?.tunnelName);
  });

  test('of an earlier process is waited for', async () => {
    await lose();
    here.restart();
    expect(await here.remove()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
    here.now += createSettleMs;
    expect(await here.remove()).toEqual({ kind: 'finished' });
  });

  test('and another one, of an edited spec: what the first one started is replaced, and goes with its resource', async () => {
    await lose();
    const first = here.late;
    here.edit({ addr: '9090' });
    await lose();
    here.running = first;
    here.starts();
    expect(await here.reconcile()).toBe('Available');
    expect(here.running).toMatchObject({ config: { addr: '9090' } });
    here.running = first;
    expect(await here.reconcile()).toBe('Available');
    expect(here.running).toMatchObject({ config: { addr: '9090' } });
    here.now += createSettleMs;
    expect(await here.reconcile()).toBe('Available');
    here.running = first;
    expect(await here.reconcile()).toBe('Conflict');
  });

  test('and another one: what the first one started is stopped with the resource', async () => {
    await lose();
    const first = here.late;
    here.edit({ addr: '9090' });
    await lose();
    here.running = first;
    await here.remove();
    expect(here.running).toBeUndefined();
  });

  test.each([
    ['refused, as the first has just taken the name', 'Rejected' as const],
    ['lost as well', 'Unreachable' as const],
  ])('and another one, which ran and was to be replaced, where that was %s', async (_, how) => {
    await lose();
    const first = here.late;
    here.edit({ options: { subdomain: 'shop' } });
    await lose();
    here.running = here.late;
    here.fails(how, () => {
      here.running = first;
    });
    expect(await here.reconcile()).toBe(how);
    here.now += createSettleMs;
    await here.remove();
    expect(here.running).toBeUndefined();
  });

  test('of a changed definition is waited for by another process, whatever the status says of the one before', async () => {
    here.starts();
    await here.settle();
    here.object = { ...here.object, metadata: { ...here.object.metadata, generation: 2 } };
    here.edit({ addr: '9090' });
    here.now += 1_000;
    await lose();
    here.restart();
    expect(await here.remove()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
  });

  test.each([
    ['', 1_000],
    ['and the clock was set back to the moment of the first, ', 0],
  ])(
    'again, as the agent started anew, %sis waited for by another process, whatever the status says',
    async (_, at) => {
      here.starts();
      const fields = await here.settle();
      expect(fields).toMatchObject({ startedAt: '1970-01-01T00:00:00.000Z' });
      [here.running, here.now] = [undefined, at];
      await lose();
      here.restart();
      expect(await here.remove()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
      here.running = here.late;
      here.now += createSettleMs;
      expect(await here.remove()).toEqual({ kind: 'finished' });
      expect(here.running).toBeUndefined();
    },
  );

  test.each([
    ['this process', () => {}],
    ['another process', () => here.restart()],
  ])('and one of another definition that was answered: of both is let go by %s', async (_, take) => {
    await lose();
    const first = here.late;
    here.edit({ addr: '9090' });
    here.starts();
    await here.settle();
    take();
    expect(await here.remove()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
    [here.running, here.now] = [first, createSettleMs];
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect(here.running).toBeUndefined();
  });

  test.each([
    ['is known to this process where no status can say so', () => {}, 1],
    ['is not to the next one', () => here.restart(), 2],
  ])('and an answered one, of what looks the same, which %s', async (_, happens, times) => {
    await lose();
    here.edit({ addr: '9090' });
    await lose();
    here.edit({ addr: '8080' });
    let starts = 0;
    here.onStart = (asked) => {
      starts += 1;
      return here.run(asked);
    };
    await here.reconcile();
    happens();
    for (let look = 0; look < 3; look += 1) await here.reconcile();
    expect(starts).toBe(times);
  });

  test('is on record for no longer than it may be carried out', async () => {
    await lose();
    here.edit({ addr: '9090' });
    here.starts();
    await here.settle();
    await here.reconcile();
    expect(startedOf(here.object)?.before).toHaveLength(1);
    here.now += createSettleMs;
    await here.reconcile();
    expect(startedOf(here.object)).not.toHaveProperty('before');
  });

  test('leaves whose the tunnel is in the status', async () => {
    here.object = { ...here.object, status: { agentURL, tunnelName: 'web', uri: '/api/tunnels/web' } };
    here.fails('Unreachable');
    expect(await here.ensure()).toMatchObject({ fields: { agentURL, tunnelName: 'web' } });
  });
});
