import { expect, test } from '@jest/globals';
import { systemClock } from './clock.ts';

test('a sleep longer than a timer of Node can be does not end at once', async () => {
  const stop = new AbortController();
  const slept = systemClock.sleep(2 ** 40, stop.signal).then(
    () => 'woke',
    () => 'stopped',
  );
  await systemClock.sleep(20);
  stop.abort();
  expect(await slept).toBe('stopped');
});
