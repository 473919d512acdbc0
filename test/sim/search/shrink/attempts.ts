import type { Act, Story } from '../../core/story.ts';
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
  async take(candidate: Story): Promise<boolean> {
    const story = withoutIdleExpectations(candidate);
    const text = JSON.stringify(story);
    if (this.spent || this.#told.has(text) || !isSound(story, this.#original)) return false;
    this.#told.add(text);
    this.#runs += 1;
    if (!(await this.#shows(story))) return false;
    this.#story = story;
    return true;
  }
}

/** Nothing is expected of resources that no act names any more. */
function withoutIdleExpectations(story: Story): Story {
  if (story.expect === undefined) return story;
  const { expect, ...rest } = story;
  const named = new Set(story.acts.flatMap((act) => namesIn(act)));
  const left = Object.entries(expect).filter(([resource]) => named.has(resource));
  return left.length === 0 ? rest : { ...rest, expect: Object.fromEntries(left) };
}

function namesIn(act: Act): readonly string[] {
  if (act.do === 'copy') return [`${act.from.kind}/${act.to.namespace ?? ''}/${act.to.name}`];
  if (act.do !== 'apply' && act.do !== 'replace') return [];
  const { kind, metadata } = act.object;
  return [`${kind}/${metadata.namespace ?? ''}/${metadata.name}`];
}
