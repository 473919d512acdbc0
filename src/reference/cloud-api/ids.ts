const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 27;

/** A number in [0, 1), as Math.random. */
export type Random = () => number;

/** The type prefixes of reference section 2, and `op` for operation ids. */
export type IdPrefix = 'ra' | 'bot' | 'op';

export type NewId = (prefix: IdPrefix) => string;

/** Ids are the prefix, an underscore and 27 base62 characters. */
export function idMaker(random: Random): NewId {
  const character = () => base62.charAt(Math.floor(random() * base62.length));
  return (prefix) => `${prefix}_${Array.from({ length: idLength }, character).join('')}`;
}
