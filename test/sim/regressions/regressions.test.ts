import { expect, test } from '@jest/globals';
import { tell } from '../search/tell.ts';
import { readKept, storyFiles } from './story-file.ts';

const kept = storyFiles().map((name) => [name, readKept(name)] as const);
const mended = kept.filter(([, { fails }]) => fails !== true);
const known = kept.filter(([, { fails }]) => fails === true);

// Of whichever list is empty there is nothing to test.
if (mended.length > 0) {
  test.each(mended)('%s: nothing is wrong any more', async (_, { story }) => {
    expect((await tell(story)).violations).toEqual([]);
  });
}

if (known.length > 0) {
  // Whoever mends the defect takes `fails` out of the file.
  test.each(known)('%s: still shows the known defect', async (_, { story, oracle }) => {
    const { violations } = await tell(story, { oracles: [oracle], stopAtFirst: true });
    expect(violations.map((violation) => violation.oracle)).toContain(oracle);
  });
}

test('every file names its finding, or its oracle', () => {
  for (const [name, { finding, oracle }] of kept) expect(name.startsWith(`${finding ?? oracle}-`)).toBe(true);
});
