import { expect, test } from '@jest/globals';
import { cpuTimer } from '../../../test/support/elapsed.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { Limiter } from './limiter.ts';

test('thousands of namespaces that wait for one budget keep nobody else waiting', async () => {
  const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 10 });
  const stop = new AbortController();
  const tookMs = cpuTimer();
  const asked = Array.from({ length: 3_000 }, (_, index) =>
    limiter.acquire({ priority: 'first', namespace: `n${index}`, signal: stop.signal }),
  );
  expect(limiter.state().waiting.first).toBe(2_993);
  stop.abort(new Error('enough'));
  const granted = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
  expect([granted.length, limiter.state().waiting.first]).toEqual([7, 0]);
  expect(tookMs()).toBeLessThan(3_000);
});
