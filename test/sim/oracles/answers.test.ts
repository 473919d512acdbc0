import { beforeEach, describe, expect, test } from '@jest/globals';
import { knownBadKey } from './known-bad-key.ts';
import { retryAfter } from './retry-after.ts';
import { FakeWorld } from './witness/witness.fixture.ts';

let world: FakeWorld;

beforeEach(() => {
  world = new FakeWorld();
});

const get = (more: object = {}) => world.call({ method: 'GET', path: '/bot_users', ...more });

describe('retry-after', () => {
  const refused = (value: string | undefined, more: object = {}) =>
    get({ status: 429, headers: value === undefined ? {} : { 'retry-after': value }, ...more });

  beforeEach(() => {
    world.judge(retryAfter);
  });

  test('a process that waits', async () => {
    await refused('30');
    await world.pass(30_000);
    await get();
    expect(world.said).toEqual([]);
  });

  test.each(['30', 'Tue, 01 Jan 2030 00:00:33 GMT'])('a process that does not wait for %s', async (value) => {
    await refused(value, { headers: { 'retry-after': value, date: 'Tue, 01 Jan 2030 00:00:00 GMT' } });
    await world.pass(29_000);
    await get();
    expect(world.said).toEqual([expect.stringContaining('ms too soon after a 429')]);
  });

  test('somebody in between may answer as well', async () => {
    await refused('30', { instead: true });
    await world.pass(1_000);
    await get();
    expect(world.said).toHaveLength(1);
  });

  test.each(['soon', '-1', '0', '1e3', '100000', undefined])('%s says nothing', async (value) => {
    await refused(value);
    await world.pass(1);
    await get();
    expect(world.said).toEqual([]);
  });

  test('what did not arrive, another key, another process and another service', async () => {
    await refused('30', { arrives: false });
    await refused('30', { key: 'other' });
    await refused('30', { by: 'op-0.1' });
    await refused('30', { service: 'other-cloud' });
    await world.pass(1);
    await get();
    expect(world.said).toEqual([]);
  });
});

describe('known-bad-key', () => {
  beforeEach(() => {
    world.judge(knownBadKey);
  });

  async function refuse(times: number, everyMs: number, status = 403) {
    for (let n = 0; n < times; n += 1) {
      await get({ status });
      await world.pass(everyMs);
    }
  }

  test.each([401, 403])('%i again and again (B8)', async (status) => {
    await refuse(28, 1_000, status);
    expect(world.said).toEqual([expect.stringContaining('op-0.0 sends more than 24 requests in 10 minutes to cloud')]);
  });

  test('rare tries', async () => {
    await refuse(60, 60_000);
    expect(world.said).toEqual([]);
  });

  test('a permission that is missing is no bad key', async () => {
    for (let n = 0; n < 30; n += 1) {
      await get({ status: 403 });
      await get();
    }
    expect(world.said).toEqual([]);
  });

  test('what was under way when it was refused', async () => {
    await Promise.all(Array.from({ length: 2 }, () => get({ status: 401 })));
    expect(world.said).toEqual([]);
  });

  test('a key that works again', async () => {
    await refuse(10, 1_000);
    await get();
    await refuse(10, 1_000);
    expect(world.said).toEqual([]);
  });
});
