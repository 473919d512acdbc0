import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { printStory } from './print.ts';
import { folder, readKept, storyFiles } from './story-file.ts';

test('what fits is on one line, what does not has a line for each part', () => {
  const object = { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'BotUser', metadata: { name: 'a' }, spec: {} };
  const story = { seed: 1, installations: [], acts: [{ at: 0, do: 'apply' as const, object }] };
  expect(printStory({ about: 'nothing', oracle: 'calm', story })).toBe(`{
  "about": "nothing",
  "oracle": "calm",
  "story": {
    "seed": 1,
    "installations": [],
    "acts": [
      {
        "at": 0,
        "do": "apply",
        "object": {
          "apiVersion": "edge-operator.dev/v1alpha1",
          "kind": "BotUser",
          "metadata": { "name": "a" },
          "spec": {}
        }
      }
    ]
  }
}
`);
});

test('kept stories are as they are printed', () => {
  for (const name of storyFiles()) expect(printStory(readKept(name))).toBe(readFileSync(join(folder, name), 'utf8'));
});
