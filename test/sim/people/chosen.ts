import type { Chance } from '../core/random.ts';
import { excluded, heavy, pairings } from './pairings.ts';

const [usual, seldom] = [0.16, 0.01];

/** Which habits and troubles are on. Each by a chance of its own: another name in the list changes nothing for the rest. */
export function chosen(
  names: readonly string[],
  only: readonly string[] | undefined,
  chance: Chance,
): readonly string[] {
  if (only !== undefined) return among(names, only);
  const drawn = names.filter((name) => chance.of(name).chance(heavy.includes(name) ? seldom : usual));
  return drawn.filter((name) => !excluded.some(([first, second]) => name === second && drawn.includes(first)));
}

/** A name alone brings what it goes with: nobody wants to see it do nothing. */
function among(names: readonly string[], only: readonly string[]): readonly string[] {
  const stranger = only.find((name) => !names.includes(name));
  if (stranger !== undefined) throw new Error(`nobody knows "${stranger}"; there are ${names.join(', ')}`);
  const [first = ''] = only;
  const partners = only.length === 1 ? (pairings[first] ?? []) : [];
  return names.filter((name) => only.includes(name) || partners.includes(name));
}
