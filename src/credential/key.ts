import { UsageError } from '../usage.ts';

/** A key travels in a header. @throws UsageError naming where it came from, never the key. */
export function checkKey(key: string, source: string): void {
  if (/^[\x21-\x7e]+$/.test(key)) return;
  throw new UsageError(`${source} holds no API key: a key is one line of visible ASCII characters, without blanks`);
}
