import { beforeEach, describe, expect, test } from '@jest/globals';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import { withoutBulk } from '../../../reconcile/resource/bulk.ts';
import { fingerprint } from '../../../reconcile/resource/json.ts';
import type { Report } from '../../../reconcile/status/outcome.ts';
import { startedOf } from './started.ts';
import { agentURL, createSettleMs, shown, TunnelWorld } from './tunnel.fixture.ts';

let here: TunnelWorld;
beforeEach(() => {
  here = new TunnelWorld();
});

test('what was refused and never asked for before is on no record', async () => {
  here.fails('Rejected');
  expect(await here.reconcile()).toBe('Rejected');
  expect(here.flow.leavesNothing(here.object)).toBe(true);
});

test.each([
  ['started', undefined],
  ['stopped, to be started otherwise', { addr: '9090' }],
  ['stopped, to be started under another name', { tunnelName: 'other' }],
])('no tunnel is %s by another process for what has gone', async (_, edit) => {
  here.starts();
  expect(await here.reconcile()).toBe('Available');
  if (edit === undefined) here.running = undefined;
  const before = here.running;
  here.edit(edit);
  here.restart();
  here.isGone = true;
  await expect(here.reconcile()).rejects.toThrow('it has gone');
  expect(here.running).toBe(before);
});

test('the record of the longest definition is kept by a cache', async () => {
  const [proto, tunnelName] = ['p'.repeat(63), 'n'.repeat(256)];
  here.fails('Unreachable');
  for (let n = 0; n < 12; n += 1) {
    here.edit({ proto, tunnelName, addr: `${'"'.repeat(2_046)}${n}` });
    await here.reconcile();
  }
  here.onStart = (asked) => ({ ...asked, config: { ...asked.config, addr: `http://${asked.config.addr}/x` } });
  await here.reconcile();
  expect(startedOf(here.object)).toBeDefined();
  expect(startedOf(withoutBulk(here.object))).toEqual(startedOf(here.object));
});

test('a tunnel where no request may go any more is waited for, and left after two minutes', async () => {
  here.starts();
  await here.settle();
  here.isShutOut = true;
  here.edit({ tunnelName: 'other' });
  expect(await here.ensure()).toMatchObject({ reason: 'Updating', retry: { kind: 'after', ms: 120_000 } });
  here.now += 119_000;
  expect(await here.ensure()).toMatchObject({ reason: 'Updating', retry: { kind: 'after', ms: 1_000 } });
  expect(startedOf(here.object)?.name).toBe('web');
  here.now += 1_000;
  expect(await here.reconcile()).toBe('Available');
  expect(startedOf(here.object)?.name).toBe('other');
});

describe('a tunnel where nobody is any more', () => {
  beforeEach(async () => {
    here.starts();
    await here.settle();
    here.isAway = true;
    here.edit({ tunnelName: 'other' });
  });

  test('is waited for, and left after two minutes', async () => {
    const waits = await here.ensure();
    expect(waits).toMatchObject({ reason: 'Unreachable', retry: { kind: 'after', ms: 5_000 } });
    expect(waits).toMatchObject({
      message: expect.stringMatching(/^tunnel web may still run at http:\/\/agent, .*: refused$/),
    });
    here.now += 119_000;
    expect(await here.ensure()).toMatchObject({ reason: 'Unreachable', retry: { kind: 'after', ms: 1_000 } });
    expect(startedOf(here.object)?.name).toBe('web');
    here.now += 1_000;
    expect(await here.reconcile()).toBe('Available');
    expect(startedOf(here.object)?.name).toBe('other');
  });

  test('is stopped where the agent is there again', async () => {
    await here.ensure();
    here.now += 5_000;
    here.isAway = false;
    expect(await here.reconcile()).toBe('Available');
    expect(here.running?.name).toBe('other');
  });

  test('is waited for as long the next time, where it was asked for again meanwhile', async () => {
    await here.ensure();
    here.edit({ tunnelName: 'web' });
    expect(await here.reconcile()).toBe('Available');
    here.now += 3_600_000;
    here.edit({ tunnelName: 'other' });
    expect(await here.reconcile()).toBe('Unreachable');
  });

  test('is left at once with its resource', async () => {
    here.object = { ...here.object, metadata: { ...here.object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(await here.remove()).toEqual({ kind: 'finished' });
  });
});

describe('a tunnel whose records somebody wiped, to another process', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';

  beforeEach(async () => {
    here.starts();
    await here.settle();
    here.restart();
  });

  function wipe(annotations: Readonly<Record<string, string>> = {}) {
    here.object = { ...here.object, metadata: { ...here.object.metadata, annotations, deletionTimestamp } };
    return here.flow.leavesNothing(here.object);
  }

  test('is stopped with its resource, as the status proves it', async () => {
    expect(wipe()).toBe(false);
    expect(here.flow.leftBehind(here.object)).toBe('tunnel web of the agent at http://agent');
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect(here.running).toBeUndefined();
  });

  test.each([
    ['that one is otherwise by then', {}, () => here.run(shown({ name: 'web', proto: 'http', addr: '9090' }))],
    ['the resource asks for another since', {}, () => here.edit({ tunnelName: 'other' })],
    ['no status tells of it', {}, () => Object.assign(here, { object: { ...here.object, status: {} } })],
    ['its own record alone is gone', { [annotation.recordOf]: 'u' }, () => {}],
  ])('is left alone where %s', async (_, left, meanwhile) => {
    wipe(left);
    meanwhile();
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect(here.running).toBeDefined();
  });
});

describe('a tunnel that cannot be told from what its agent lists', () => {
  beforeEach(async () => {
    here.starts();
    await here.settle();
    here.isOdd = true;
  });

  test('keeps its deleted resource for two minutes, and is left behind then', async () => {
    here.object = { ...here.object, metadata: { ...here.object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    const message = expect.stringMatching(
      /^deleting: tunnel web may still run .* may be web: .*; stop it in the agent, or/,
    );
    expect(await here.remove()).toMatchObject({ reason: 'Unreachable', message, retry: { kind: 'after', ms: 5_000 } });
    here.now += 119_999;
    expect(await here.remove()).toMatchObject({ reason: 'Unreachable' });
    here.now += 1;
    expect(await here.remove()).toEqual({ kind: 'finished' });
  });

  test('is stopped with it where it can be told meanwhile', async () => {
    await here.remove();
    here.isOdd = false;
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect(here.running).toBeUndefined();
  });

  test('keeps one that asks for another for as long', async () => {
    here.edit({ tunnelName: 'other' });
    expect(await here.reconcile()).toBe('Unreachable');
    expect(startedOf(here.object)?.name).toBe('web');
    here.now += 120_000;
    await expect(here.ensure()).resolves.toMatchObject({ message: expect.stringContaining('no name') });
    here.isOdd = false;
    await here.reconcile();
    expect(startedOf(here.object)?.name).toBe('other');
  });
});

test('a tunnel runs on for as long as the Agent that its resource names is paused', async () => {
  here.starts();
  await here.settle();
  here.isPaused = true;
  await expect(here.remove()).rejects.toThrow('the Agent is paused');
  expect(here.running).toBeDefined();
  here.isPaused = false;
  expect(await here.remove()).toEqual({ kind: 'finished' });
});

test('a running tunnel is stopped at once, with its resource', async () => {
  here.starts();
  await here.settle();
  here.restart();
  expect(await here.remove()).toEqual({ kind: 'finished' });
  expect(here.running).toBeUndefined();
});

describe('what an earlier version started', () => {
  const record = { uid: 'u', url: agentURL, name: 'web', proto: 'http', addr: '8080', options: fingerprint({}) };
  const shownAs = (generation: number) => here.leftBy({ ...record, generation });

  test('is left as it is, and its record, and its status but for what else is told now', async () => {
    shownAs(1);
    const { metadata, status } = here.object;
    const { fields } = (await here.ensure()) as Report;
    expect(here.object.metadata).toEqual(metadata);
    const told = { publicURL: 'http://web.localhost', shownOptions: fingerprint({}) };
    expect({ ...status, ...fields }).toEqual({ ...status, ...told });
  });

  test.each([
    ['at once where its status is of the generation that it was started for', 1, { kind: 'finished' }],
    ['and waited for where that is of an earlier one', 2, { retry: { kind: 'after', ms: createSettleMs } }],
  ])('is stopped %s', async (_, generation, outcome) => {
    shownAs(generation);
    expect(await here.remove()).toMatchObject(outcome);
    expect(here.running).toBeUndefined();
  });

  test('and was started again is waited for', async () => {
    shownAs(1);
    here.running = undefined;
    here.fails('Unreachable');
    await here.reconcile();
    here.restart();
    expect(await here.remove()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
  });
});

test('a tunnel that was adopted goes at once with its resource', async () => {
  here.running = shown({ name: 'web', proto: 'http', addr: '8080' });
  await here.settle();
  here.restart();
  expect(await here.remove()).toEqual({ kind: 'finished' });
});
