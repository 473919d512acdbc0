import type { ServerResponse } from 'node:http';
import type { Exchange } from '../exchange.ts';
import type { HandlerContext } from '../object-request.ts';
import type { Presentation } from '../presentation/presentation.ts';
import { apiVersionOf } from '../types/resource-type.ts';
import type { Batches, Outlet } from './batches.ts';
import { eventLine } from './event-lines.ts';
import { type Sink, startWatch, type WatchRequest } from './watch.ts';

/** A client that is so far behind what there was at first is cut off; it resumes with a new watch. */
const maxUnreadBytes = 64 * 1024 * 1024;

/** Answers with one JSON line for each event until the watch ends or the client goes. */
export function streamWatch(
  { response }: Exchange,
  request: WatchRequest,
  presentation: Presentation,
  { store, monotonic, bookmarkMs, lines, batches }: HandlerContext,
): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
  response.flushHeaders();
  const stream = new LineStream(response, batches);
  const shape = `${presentation.name} of ${apiVersionOf(request.type)}`;
  let first = true;
  const sink: Sink = {
    event: (type, stored) => {
      const isFirst = first;
      first = false;
      const text = () => presentation.event(stored, isFirst);
      stream.write(lines.line(type, stored, isFirst ? `first ${shape}` : shape, text));
    },
    notice: (type, object) => stream.write(eventLine(type, JSON.stringify(object))),
    end: () => stream.end(),
  };
  response.on('close', startWatch(store, request, sink, { monotonic, bookmarkMs }));
}

/** Gathers lines and sends them in batches. */
class LineStream implements Outlet {
  readonly #response: ServerResponse;
  readonly #batches: Batches;
  #lines: Buffer[] = [];
  /** What there was at first is all written at once, however much it is. */
  #mostUnread: number | undefined;

  constructor(response: ServerResponse, batches: Batches) {
    this.#response = response;
    this.#batches = batches;
  }

  write(line: Buffer): void {
    this.#lines.push(line);
    this.#batches.add(this);
  }

  flush(): void {
    if (this.#lines.length === 0 || this.#response.destroyed) return;
    const batch = this.#batches.join(this.#lines);
    this.#lines = [];
    this.#mostUnread ??= batch.length + maxUnreadBytes;
    this.#response.write(batch);
    if (this.#response.writableLength > this.#mostUnread) this.#response.destroy();
  }

  end(): void {
    this.flush();
    this.#response.end();
  }
}
