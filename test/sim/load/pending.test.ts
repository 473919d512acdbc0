import { expect, test } from '@jest/globals';
import { type Oracle, run } from '../core/run.ts';
import type { Story } from '../core/story.ts';

const second = 1_000;
const pending = 500;
const perMinute = 120;

const story: Story = {
  seed: 1,
  installations: [{ name: 'op', settings: { requestsPerMinute: String(perMinute) } }],
  cloud: { apiKeys: ['main=main-key-CANARY-0'] },
  acts: [
    { at: 0, do: 'start', installation: 'op' },
    {
      at: 10 * second,
      do: 'apply',
      times: pending,
      object: {
        apiVersion: 'edge-operator.dev/v1alpha1',
        kind: 'ReservedAddr',
        metadata: { name: 'addr-{{n}}', namespace: 'crowd' },
        spec: { description: 'addr-{{n}}' },
      },
    },
  ],
  settleMs: 300 * second,
  calmMs: 0,
};

test('of the budget nearly all is at work while many wait for it', async () => {
  const arrivals: number[] = [];
  const creates: number[] = [];
  const oracle: Oracle = (world) => {
    world.network.observers.add(({ to, method, arrivedAt = 0 }) => {
      if (to.name !== 'cloud' || arrivedAt < 10 * second) return;
      arrivals.push(arrivedAt);
      if (method === 'POST') creates.push(arrivedAt);
    });
    return {};
  };
  await run(story, { oracles: [oracle], troubles: {}, mostRequests: 100_000 });
  expect(creates).toHaveLength(pending);
  // The budget of a minute may come at once: what is even are the times from one to the next.
  const spans = [1, 2, 3].map((minutes) => (arrivals[minutes * perMinute] ?? Number.NaN) - (arrivals[0] ?? Number.NaN));
  const shares = spans.map((ms, index) => ((index + 1) * 60 * second) / ms);
  for (const share of shares) {
    expect(share).toBeGreaterThanOrEqual(0.98);
    expect(share).toBeLessThanOrEqual(1);
  }
});
