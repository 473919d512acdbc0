import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { JoinedSignal } from './joined-signal.ts';

function controllers() {
  const [first, second] = [new AbortController(), new AbortController()];
  const listeners = () => [first, second].map(({ signal }) => getEventListeners(signal, 'abort').length);
  return { first, second, listeners };
}

test('aborts with the first that does, and lets go of all', () => {
  const { first, second, listeners } = controllers();
  const { signal } = new JoinedSignal(first.signal, undefined, second.signal);
  expect(signal.aborted).toBe(false);
  second.abort('second');
  first.abort('first');
  expect([signal.aborted, signal.reason, listeners()]).toEqual([true, 'second', [0, 0]]);
});

test('has aborted when one had', () => {
  const { first, second, listeners } = controllers();
  second.abort('before');
  const { signal } = new JoinedSignal(first.signal, second.signal);
  expect([signal.aborted, signal.reason, listeners()]).toEqual([true, 'before', [0, 0]]);
});

test('lets go of its sources when it is disposed of', () => {
  const { first, second, listeners } = controllers();
  {
    using joined = new JoinedSignal(first.signal, second.signal);
    expect([joined.signal.aborted, listeners()]).toEqual([false, [1, 1]]);
  }
  expect(listeners()).toEqual([0, 0]);
});
