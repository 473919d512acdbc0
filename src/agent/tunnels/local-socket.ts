import { Socket } from 'node:net';

type Callback = (error?: Error | null) => void;

/**
 * A connection to a local server that may answer and close before it has had all of a body. What can no more be written
 * is then dropped, and what came before is still read: Node would destroy the connection with the answer unread. That
 * it is closed shows in reading it, so that it is nothing for a connection that may be closed one way.
 */
export class LocalSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, callback: Callback): void {
    super._write(chunk, encoding, unlessClosed(callback));
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], callback: Callback): void {
    super._writev?.(chunks, unlessClosed(callback));
  }
}

function unlessClosed(callback: Callback): Callback {
  return (error) => callback(isClosed(error) ? null : error);
}

function isClosed(error: NodeJS.ErrnoException | null | undefined): boolean {
  return error?.code === 'EPIPE' || error?.code === 'ECONNRESET';
}
