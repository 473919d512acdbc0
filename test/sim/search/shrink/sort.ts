import type { Violation } from '../../core/run.ts';

/** What a message says, whatever it says it of: without names, ids and numbers. */
export function sortOf({ oracle, message }: Violation): string {
  const words = message.split(/\s+/).filter((word) => /^[A-Za-z']+[.,:;]?$/.test(word));
  return `${oracle}: ${words.join(' ')}`;
}
