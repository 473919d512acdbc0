import type { HandlerContext } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { ApiObject } from './object.ts';
import type { Presentation } from './presentation.ts';
import { startWatch, type WatchEventType, type WatchRequest } from './watch.ts';

/** A client that reads slower than this is cut off; it resumes with a new watch. */
const maxUnreadBytes = 16 * 1024 * 1024;

/** Answers with one JSON line for each event until the watch ends or the client goes. */
export function streamWatch(
  { response }: Exchange,
  request: WatchRequest,
  presentation: Presentation,
  { store, bookmarkMs, text }: HandlerContext,
): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
  response.flushHeaders();
  let first = true;
  const event = (type: WatchEventType, object: object) => {
    const shown = isShown(type) ? presentation.event(object as ApiObject, first) : object;
    first = first && !isShown(type);
    response.write(`{"type":"${type}","object":${text(shown)}}\n`);
    if (response.writableLength > maxUnreadBytes) response.destroy();
  };
  const stop = startWatch(store, request, { event, end: () => response.end() }, bookmarkMs);
  response.on('close', stop);
}

const isShown = (type: WatchEventType) => type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
