import { readFileSync } from 'node:fs';

/**
 * The process id that a shell writes to the file; undefined while there is none. What is empty yet would be 0, and to
 * signal that is to signal every process of our own group.
 */
export function pidIn(file: string): number | undefined {
  try {
    const [, digits] = /^([1-9]\d*)\n$/.exec(readFileSync(file, 'utf8')) ?? [];
    return digits === undefined ? undefined : Number(digits);
  } catch {
    return undefined;
  }
}
