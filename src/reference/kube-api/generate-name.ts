import { randomBytes } from 'node:crypto';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const [longest, added] = [63, 5];

/** `generateName`, cut where it is too long, and five characters without vowels or look-alikes, as on the real server. */
export function nameFrom(base: string): string {
  const suffix = [...randomBytes(added)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return base.slice(0, longest - added) + suffix;
}
