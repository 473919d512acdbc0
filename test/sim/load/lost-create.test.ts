import { expect, test } from '@jest/globals';
import type { Act, Story } from '../core/story.ts';
import { tell } from '../search/tell.ts';

const second = 1_000;
const key = 'main-key-CANARY-0';
/** Long after the others were made. */
const createdAt = 600 * second;

const lost: Act = {
  ...{ at: createdAt, do: 'trouble', name: 'lost-requests', forMs: second },
  with: { to: 'cloud', probability: 1, broken: 1, breaksWithinMs: second },
};

const story = (more: readonly Act[]): Story => ({
  seed: 1,
  installations: [{ name: 'op', settings: { resyncInterval: '1h' } }],
  cloud: { apiKeys: [`main=${key}`], rateLimit: 0 },
  acts: [
    {
      ...{ at: 0, do: 'cloud', key, method: 'POST', path: '/reserved_addrs' },
      ...{ body: { description: 'foreign {{n}}' }, times: 3_000 },
    },
    { at: second, do: 'start', installation: 'op' },
    {
      ...{ at: createdAt, do: 'apply' },
      object: {
        apiVersion: 'edge-operator.dev/v1alpha1',
        kind: 'ReservedAddr',
        metadata: { name: 'addr', namespace: 'a' },
        spec: {},
      },
    },
    ...more,
  ],
  settleMs: 300 * second,
  calmMs: 0,
});

/** How many creates were sent, answered or not, and pages of addresses were asked for. */
async function callsOf(more: readonly Act[]) {
  const calls = { creates: 0, pages: 0 };
  const { violations } = await tell(story(more), {
    oracles: [],
    onWorld: ({ network }) => {
      network.sendings.add(({ from, method, path }) => {
        if (!from.name.startsWith('op-') || !/^\/reserved_addrs(?:$|\?)/.test(path)) return;
        calls[method === 'POST' ? 'creates' : 'pages'] += 1;
      });
    },
  });
  expect(violations).toEqual([]);
  return calls;
}

test('a lost create in an account of 3,000 addresses costs few pages', async () => {
  const [answered, unanswered] = [await callsOf([]), await callsOf([lost])];
  expect([answered.creates, unanswered.creates]).toEqual([1, 2]);
  expect(unanswered.pages - answered.pages).toBeLessThanOrEqual(6);
});
