import type { Story } from '../../core/story.ts';
import { isSound } from './sound.ts';

/** Whether a story still shows what is looked for. */
export type Shows = (story: Story) => Promise<boolean>;

export interface Bounds {
  /** Stories told at most. */
  readonly runs: number;
  /** Whether there is no time left. */
  readonly late: () => boolean;
}

/** The shortest story so far, and the tries to make it shorter. */
export class Attempts {
  readonly #shows: Shows;
  readonly #bounds: Bounds;
  readonly #told = new Set<string>();
  readonly #original: Story;
  #story: Story;
  #runs = 0;

  constructor(story: Story, shows: Shows, bounds: Bounds) {
    this.#story = story;
    this.#original = story;
    this.#shows = shows;
    this.#bounds = bounds;
    this.#told.add(JSON.stringify(story));
  }

  get story(): Story {
    return this.#story;
  }

  get runs(): number {
    return this.#runs;
  }

  get spent(): boolean {
    return this.#runs >= this.#bounds.runs || this.#bounds.late();
  }

  /** Takes the story for the shortest where it still shows it; no story is told twice. */
  async take(story: Story): Promise<boolean> {
    const text = JSON.stringify(story);
    if (this.spent || this.#told.has(text) || !isSound(story, this.#original)) return false;
    this.#told.add(text);
    this.#runs += 1;
    if (!(await this.#shows(story))) return false;
    this.#story = story;
    return true;
  }
}
