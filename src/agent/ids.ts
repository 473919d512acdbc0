import { type Random, randomId, randomText } from '../common/random-id.ts';

export type { Random };

const base36 = '0123456789abcdefghijklmnopqrstuvwxyz';

/** `req` for captured requests, `tn` for tunnels, `ep` for their endpoints at the cloud. */
export function newId(random: Random, prefix: 'req' | 'tn' | 'ep'): string {
  return randomId(random, prefix);
}

/** A host label nobody asked for. */
export function randomLabel(random: Random): string {
  return randomText(random, base36, 10);
}
