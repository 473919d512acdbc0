import type { Chance } from '../core/random.ts';
import type { Plan } from './kind.ts';

/** For some seconds, with these options. */
export function lasting(
  chance: Chance,
  [fromSeconds, toSeconds]: readonly [number, number],
  options: Readonly<Record<string, unknown>> = {},
): Plan {
  return { forMs: chance.int(fromSeconds, toSeconds) * 1_000, with: { salt: chance.int(1, 1_000_000), ...options } };
}
