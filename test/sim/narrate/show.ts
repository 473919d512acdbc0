import type { Flight } from '../core/network.ts';
import type { Outcome } from '../core/run.ts';
import type { Story } from '../core/story.ts';
import { type TellOptions, tell } from '../search/tell.ts';
import { headOf } from './head.ts';
import { narrate } from './narrate.ts';

export interface ShowOptions extends Pick<TellOptions, 'oracles'> {
  /** The head alone, what happened in words, or every line of the trace. */
  readonly how: 'head' | 'people' | 'raw';
}

export interface Shown {
  readonly lines: readonly string[];
  readonly outcome: Outcome;
}

/** Tells a story for people to read. */
export async function show(story: Story, { oracles, how }: ShowOptions): Promise<Shown> {
  const lines: string[] = [];
  const flights = new Map<number, Flight>();
  const outcome = await tell(story, {
    oracles,
    ...(how === 'head' ? {} : { print: (line) => lines.push(line) }),
    onWorld: ({ network }) => network.observers.add((flight) => flights.set(flight.id, flight)),
  });
  const body = how === 'people' ? narrate({ lines, flights }) : lines;
  return { lines: [...headOf(story, outcome), ...(body.length === 0 ? [] : ['', ...body])], outcome };
}
