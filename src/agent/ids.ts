const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base36 = '0123456789abcdefghijklmnopqrstuvwxyz';

/** A number in [0, 1), as Math.random. */
export type Random = () => number;

/** Joined, not added up: a string that was added up character by character takes twenty times its memory. */
function characters(random: Random, alphabet: string, length: number): string {
  const picked = new Array<string>(length);
  for (let at = 0; at < length; at += 1) picked[at] = alphabet.charAt(Math.floor(random() * alphabet.length));
  return picked.join('');
}

/** `req` for captured requests, `tn` for tunnels, `ep` for their endpoints at the cloud. */
export function newId(random: Random, prefix: 'req' | 'tn' | 'ep'): string {
  return `${prefix}_${characters(random, base62, 27)}`;
}

/** A host label nobody asked for. */
export function randomLabel(random: Random): string {
  return characters(random, base36, 10);
}
