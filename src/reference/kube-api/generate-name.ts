import { randomBytes } from 'node:crypto';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Five characters without vowels or look-alikes, as the real server appends to `generateName`. */
export function nameSuffix(): string {
  return [...randomBytes(5)].map((byte) => alphabet[byte % alphabet.length]).join('');
}
