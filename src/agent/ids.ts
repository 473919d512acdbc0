const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base36 = '0123456789abcdefghijklmnopqrstuvwxyz';

/** A number in [0, 1), as Math.random. */
export type Random = () => number;

function characters(random: Random, alphabet: string, length: number): string {
  let text = '';
  while (text.length < length) text += alphabet.charAt(Math.floor(random() * alphabet.length));
  return text;
}

/** `req` for captured requests, `tn` for the resources of unnamed tunnels. */
export function newId(random: Random, prefix: 'req' | 'tn'): string {
  return `${prefix}_${characters(random, base62, 27)}`;
}

/** A host label nobody asked for. */
export function randomLabel(random: Random): string {
  return characters(random, base36, 10);
}
