import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Log, silentLog } from '../../../../common/log.ts';
import { monotonic } from '../../../cloud/limiter.fixture.ts';
import { Outage } from './outage.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const minute = 60_000;

function setup({ requestsPerMinute = 120 } = {}) {
  const budget = { requestsPerMinute };
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (line) => void lines.push(line), info: (line) => void lines.push(line) };
  const seen = { probes: 0, overs: 0, answers: false, isIdle: false };
  const closing = new AbortController();
  const outage: Outage = new Outage({
    ...{ monotonic, random: () => 1, log, closed: closing.signal },
    requestsPerMinute: () => budget.requestsPerMinute,
    probe: async () => {
      seen.probes += 1;
      hear(seen.answers ? 'ok' : 'Unreachable');
    },
    isIdle: () => seen.isIdle,
    onOver: () => {
      seen.overs += 1;
    },
  });
  const hear = (outcome: 'ok' | 'Unreachable' | 'Rejected', times = 1, retryAfterMs?: number) => {
    for (let time = 0; time < times; time += 1) outage.heard({ operation: 'bot_users.get', outcome, retryAfterMs });
  };
  return { budget, lines, seen, hear, close: () => closing.abort() };
}

test('two failures are bad luck, and refusals are answers', async () => {
  const { hear, lines, seen } = setup();
  hear('Unreachable', 2);
  hear('Rejected');
  hear('Unreachable', 2);
  await jest.advanceTimersByTimeAsync(10 * minute);
  expect([seen.probes, lines]).toEqual([0, []]);
});

test('nothing is sent to find out while nothing is to be sent, as by an account that is paused', async () => {
  const { hear, seen } = setup();
  seen.isIdle = true;
  hear('Unreachable', 3);
  await jest.advanceTimersByTimeAsync(60 * minute);
  expect(seen.probes).toBe(0);
  seen.isIdle = false;
  await jest.advanceTimersByTimeAsync(30_000);
  seen.answers = true;
  await jest.advanceTimersByTimeAsync(30_000);
  expect(seen.overs).toBe(1);
});

test('the end of an hour is noticed within half a minute, and told once', async () => {
  const { hear, lines, seen } = setup();
  hear('Unreachable', 3);
  await jest.advanceTimersByTimeAsync(60 * minute);
  expect(seen.overs).toBe(0);
  expect(seen.probes).toBeGreaterThan(100);
  expect(seen.probes).toBeLessThan(130);
  seen.answers = true;
  await jest.advanceTimersByTimeAsync(30_000);
  expect(seen.overs).toBe(1);
  const { probes } = seen;
  await jest.advanceTimersByTimeAsync(10 * minute);
  expect(seen.probes).toBe(probes);
  // At its beginning, every five minutes, and at its end.
  expect(lines).toHaveLength(1 + 12 + 1);
  expect(lines.at(-1)).toBe('the cloud answers again');
});

test('it is not asked before it wants to be, nor for what it wanted before it answered', async () => {
  const { hear, seen } = setup();
  hear('Unreachable', 1, 60 * minute);
  hear('ok');
  hear('Unreachable', 2);
  hear('Unreachable', 1, 2 * minute);
  await jest.advanceTimersByTimeAsync(minute);
  hear('Unreachable', 1, 4 * minute);
  await jest.advanceTimersByTimeAsync(4 * minute - 1);
  expect(seen.probes).toBe(0);
  await jest.advanceTimersByTimeAsync(minute);
  expect(seen.probes).toBeGreaterThan(0);
});

test('any answer ends it, whoever asked', async () => {
  const { hear, seen } = setup();
  hear('Unreachable', 3);
  await jest.advanceTimersByTimeAsync(10_000);
  hear('ok');
  expect([seen.probes, seen.overs]).toEqual([1, 1]);
  await jest.advanceTimersByTimeAsync(10 * minute);
  expect(seen.probes).toBe(1);
});

test('while one operation alone fails, whatever else is asked is answered: nobody tries again for that', async () => {
  const { hear, seen } = setup();
  seen.answers = true;
  for (let time = 0; time < 60; time += 1) {
    hear('Unreachable', 3);
    await jest.advanceTimersByTimeAsync(minute);
  }
  expect([seen.probes, seen.overs]).toEqual([60, 0]);
});

test('what comes and goes has everyone try again once in five minutes', async () => {
  const { hear, seen } = setup();
  for (let time = 0; time < 90; time += 1) {
    hear('Unreachable', 3);
    await jest.advanceTimersByTimeAsync(10_000);
    hear('ok');
  }
  expect(seen.overs).toBe(3);
});

test('of a small budget an eighth is asked for at most', async () => {
  const { hear, seen } = setup({ requestsPerMinute: 2 });
  hear('Unreachable', 3);
  await jest.advanceTimersByTimeAsync(80 * minute);
  expect(seen.probes).toBeLessThanOrEqual(24);
  expect(seen.probes).toBeGreaterThan(15);
});

test('a budget that was raised before counts as it is now', async () => {
  const { budget, hear, seen } = setup({ requestsPerMinute: 1 });
  budget.requestsPerMinute = 120;
  hear('Unreachable', 3);
  await jest.advanceTimersByTimeAsync(2 * minute);
  expect(seen.probes).toBeGreaterThanOrEqual(4);
});

test('nothing is asked for an account that is closed', async () => {
  const { close, hear, seen } = setup();
  hear('Unreachable', 3);
  close();
  await jest.advanceTimersByTimeAsync(10 * minute);
  expect([seen.probes, jest.getTimerCount()]).toEqual([0, 0]);
});

test('a service that comes and goes a few times before it stays away is asked by one at a time', async () => {
  const { hear, seen } = setup();
  for (let flap = 0; flap < 8; flap += 1) {
    hear('ok');
    hear('Unreachable', 3);
    await jest.advanceTimersByTimeAsync(1_000);
  }
  await jest.advanceTimersByTimeAsync(minute);
  seen.probes = 0;
  await jest.advanceTimersByTimeAsync(10 * minute);
  expect(seen.probes).toBe(20);
});
