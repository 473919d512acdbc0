import { UsageError } from '../usage.ts';

/** As messages say it. */
export const keyForm = 'one line of visible ASCII characters, without blanks';

/** A key travels in a header. */
export function isKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** @throws UsageError naming where it came from, never the key. */
export function checkKey(key: string, source: string): void {
  if (!isKey(key)) throw new UsageError(`${source} holds no API key: a key is ${keyForm}`);
}
