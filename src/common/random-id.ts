const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number in [0, 1), as Math.random. */
export type Random = () => number;

/** Joined, not added up: a string that was added up character by character takes twenty times its memory. */
export function randomText(random: Random, alphabet: string, length: number): string {
  const picked = new Array<string>(length);
  for (let at = 0; at < length; at += 1) picked[at] = alphabet.charAt(Math.floor(random() * alphabet.length));
  return picked.join('');
}

/** The prefix, an underscore and 27 base62 characters. */
export function randomId(random: Random, prefix: string): string {
  return `${prefix}_${randomText(random, base62, 27)}`;
}
