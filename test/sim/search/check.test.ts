import { expect, test } from '@jest/globals';
import { makeStory } from '../people/index.ts';
import { troubles } from '../troubles/index.ts';
import { areEqual, hashesOf } from './check.ts';

const only = ['edits', 'deletes', 'twins', 'lost-answers', 'crashes', 'watches-lag', 'kube-conflicts'];

// Without the long rest, in which little happens: `npm run sim -- --check` tells whole stories.
// A profiler and a busy thread besides take a busy machine long.
const patienceMs = 240_000;

test(
  'a seed gives the same three times',
  async () => {
    const hashes = await hashesOf({ ...makeStory(1, { troubles, only }), settleMs: 60_000, calmMs: 0 });
    expect(hashes.alone).toMatch(/^[0-9a-f]{16}$/);
    expect(areEqual(hashes)).toBe(true);
  },
  patienceMs,
);
