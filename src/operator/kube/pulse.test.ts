import { expect, test } from '@jest/globals';
import { ManualClock } from '../controller/manual-clock.fixture.ts';
import { Pulse } from './pulse.ts';

test('a process that runs does not stand still, for however long', async () => {
  const clock = new ManualClock();
  using following = new Pulse(clock).follow(150_000);
  await clock.advance(3_600_000);
  expect(following.stoodStill()).toBe(false);
});

test('one that was stopped did, from the first moment after it, for all that followed it then and none that begin later', async () => {
  const clock = new ManualClock();
  const pulse = new Pulse(clock);
  using before = pulse.follow(150_000);
  using another = pulse.follow(150_000);
  await clock.advance(1_000);
  clock.freeze(6_000);
  using after = pulse.follow(150_000);
  expect([before.stoodStill(), after.stoodStill()]).toEqual([true, false]);
  await clock.advance(140_000);
  expect([before.stoodStill(), another.stoodStill(), after.stoodStill()]).toEqual([true, true, false]);
  // By now it has heard of whatever happened meanwhile.
  await clock.advance(20_000);
  expect(before.stoodStill()).toBe(false);
});

test('it beats only while anybody follows it, and what lies between is not standing still', async () => {
  const clock = new ManualClock();
  const pulse = new Pulse(clock);
  pulse.follow(150_000)[Symbol.dispose]();
  expect(clock.sleepers).toBe(0);
  await clock.advance(60_000);
  using later = pulse.follow(150_000);
  expect([clock.sleepers, later.stoodStill()]).toEqual([1, false]);
});
