import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../src/common/usage.ts';
import type { Story } from '../core/story.ts';

/** A story that once showed something wrong, as it is kept. */
export interface StoryFile {
  /** What it shows. */
  readonly about: string;
  /** Of the list of findings. */
  readonly finding?: string;
  readonly oracle: string;
  /** How the long story was found of which this one is what was left: by the story of which seed, with what switched on. */
  readonly seed?: number;
  readonly only?: readonly string[];
  /** When the oracle spoke in it. */
  readonly foundVirtualMs?: number;
  /** How long it took to get there, one seed after the other from 1 in one process. */
  readonly foundRealMs?: number;
  readonly story: Story;
}

const suffix = '.story.json';
export const folder = import.meta.dirname;

export function nameOf(oracle: string, seed: number): string {
  return `${oracle}-${seed}${suffix}`;
}

/** Names of files, in order. */
export function storyFiles(dir: string = folder): readonly string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith(suffix))
    .toSorted();
}

export function readStory(path: string): StoryFile {
  const file = parsed(path);
  if (typeof file !== 'object' || file === null || !('story' in file)) throw new UsageError(`${path} holds no story`);
  return file as StoryFile;
}

export const readKept = (name: string): StoryFile => readStory(join(folder, name));

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
