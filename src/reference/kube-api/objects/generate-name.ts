import { type Random, randomText } from '../../../common/random-id.ts';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const [longest, added] = [63, 5];

/** `generateName`, cut where it is too long, and five characters without vowels or look-alikes, as on the real server. */
export function nameFrom(base: string, random: Random): string {
  return base.slice(0, longest - added) + randomText(random, alphabet, added);
}
