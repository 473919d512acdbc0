import { expect, test } from '@jest/globals';
import { unreadable } from './odd-items.ts';

const mine = { uid: 'u', notBefore: Date.parse('2026-01-02T03:03:05Z') };
const problem = 'description: expected string';

test.each([
  ['none', []],
  ['one from before the create', [{ id: 'a', createdAt: '2026-01-02T03:00:00Z', problem }]],
])('%s is of no concern', (_, odd) => {
  expect(unreadable('reserved address', mine, odd)).toBeUndefined();
});

test.each([
  ['one made since', { id: 'a', createdAt: '2026-01-02T03:04:06Z', problem }, /^item a of the list may be/],
  ['one of the other clock’s past', { id: 'a', createdAt: '2026-01-02T03:03:30Z', problem }, /^item a/],
  ['one that does not say when it was made', { id: 'a', createdAt: undefined, problem }, /^item a/],
  ['one without an id', { id: undefined, createdAt: undefined, problem }, /^an item without an id/],
])('%s may be what the create made', (_, odd, message) => {
  expect(unreadable('reserved address', mine, [odd])).toMatchObject({
    reason: 'Unreachable',
    message: expect.stringMatching(message),
  });
});
