import { KubeConnectionError, type KubeError } from './errors.ts';
import { errorFromStatus } from './status.ts';
import type { KubeObject } from './types.ts';

/** One event of a watch. A BOOKMARK's object has little but a resourceVersion. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: Pick<KubeObject, 'metadata'> }
  | { readonly type: 'ERROR'; readonly error: KubeError };

/** Decodes the newline-separated JSON of a watch as it arrives; a character or an event may span chunks. */
export async function* decodeWatch<T extends KubeObject>(
  doing: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of splitLines(chunks)) {
    if (line.trim() !== '') yield decodeEvent<T>(doing, line);
  }
}

const newline = 0x0a;

async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      parts.push(chunk.subarray(start, end));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  // What is left has no newline: the connection ended within an event, which the next watch sends again.
}

function decodeEvent<T extends KubeObject>(doing: string, line: string): WatchEvent<T> {
  const event = parse(doing, line);
  if (event.type === 'ERROR') return { type: 'ERROR', error: errorFromStatus(doing, event.object) };
  const metadata = event.object?.metadata;
  const known = event.type === 'BOOKMARK' || metadata?.name !== undefined;
  if (!eventTypes.has(event.type) || typeof metadata?.resourceVersion !== 'string' || !known) {
    throw new KubeConnectionError(doing, new Error(`malformed ${String(event.type)} event`));
  }
  return event as WatchEvent<T>;
}

const eventTypes: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

function parse(doing: string, line: string): { type?: unknown; object?: Partial<KubeObject> } {
  try {
    return JSON.parse(line) ?? {};
  } catch (error) {
    throw new KubeConnectionError(doing, new Error('an event is not JSON', { cause: error }));
  }
}
