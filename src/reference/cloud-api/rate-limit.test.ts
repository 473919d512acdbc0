import { describe, expect, test } from '@jest/globals';
import { startTestCloud } from '../../../test/support/cloud-api.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { RateLimit } from './rate-limit.ts';

describe('RateLimit', () => {
  test('lets in as many as the limit in any rolling 60 s, per account', () => {
    const limit = new RateLimit(2);
    expect(limit.take('a', 0)).toBeUndefined();
    expect(limit.take('a', 30_000)).toBeUndefined();
    expect(limit.take('a', 30_500)).toEqual({ retryAfterSeconds: 30 });
    expect(limit.take('b', 30_500)).toBeUndefined();
    expect(limit.take('a', 59_999)).toEqual({ retryAfterSeconds: 1 });
    expect(limit.take('a', 60_000)).toBeUndefined();
    expect(limit.take('a', 60_001)).toEqual({ retryAfterSeconds: 30 });
  });

  test('refused requests do not put off the next', () => {
    const limit = new RateLimit(1);
    limit.take('a', 0);
    for (let now = 1_000; now < 60_000; now += 1_000) expect(limit.take('a', now)).toBeDefined();
    expect(limit.take('a', 60_000)).toBeUndefined();
  });

  test('0 is no limit', () => {
    const limit = new RateLimit(0);
    expect(Array.from({ length: 1_000 }, () => limit.take('a', 0))).toEqual(Array(1_000).fill(undefined));
  });
});

test('the limit, then 429 with Retry-After until the window has passed', async () => {
  let now = 1_000_000;
  const monotonic = { ...systemRuntime.monotonic, now: () => now };
  const cloud = await startTestCloud({ rateLimit: 120, runtime: { ...systemRuntime, monotonic } });
  try {
    for (let index = 0; index < 120; index += 1) expect((await cloud.call('GET', '/bot_users')).status).toBe(200);
    now += 500;
    const refused = await cloud.call('GET', '/bot_users');
    expect(refused).toMatchObject({ status: 429, body: { error_code: 'ERR_EDGE_120', status_code: 429 } });
    expect(refused.headers.get('retry-after')).toBe('60');
    now += 59_500;
    expect((await cloud.call('GET', '/bot_users')).status).toBe(200);
  } finally {
    await cloud.stop();
  }
});
