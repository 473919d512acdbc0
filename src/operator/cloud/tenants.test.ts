import { expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import { Limiter } from './limiter.ts';

test('thousands of namespaces that wait for one budget keep nobody else waiting', async () => {
  const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 10 });
  const stop = new AbortController();
  const startedAt = performance.now();
  const asked = Array.from({ length: 3_000 }, (_, index) =>
    limiter.acquire({ priority: 'first', namespace: `n${index}`, signal: stop.signal }),
  );
  expect(limiter.state().waiting.first).toBe(2_993);
  stop.abort(new Error('enough'));
  const granted = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
  expect([granted.length, limiter.state().waiting.first]).toEqual([7, 0]);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});
