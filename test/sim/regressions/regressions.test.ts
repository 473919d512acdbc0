import { expect, test } from '@jest/globals';
import { tell } from '../search/tell.ts';
import { readKept, storyFiles } from './story-file.ts';

const kept = storyFiles().map((name) => [name, readKept(name)] as const);

test.each(kept)('%s: nothing is wrong any more', async (_, { story }) => {
  expect((await tell(story)).violations).toEqual([]);
});

test('every file names its finding, or its oracle', () => {
  for (const [name, { finding, oracle }] of kept) expect(name.startsWith(`${finding ?? oracle}-`)).toBe(true);
});
