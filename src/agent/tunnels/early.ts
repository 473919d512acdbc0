import type { Duplex } from 'node:stream';

/** What is beyond is left to the client, as back-pressure. */
const mostBytes = 65_536;

/**
 * Reads on while a client waits for its upgrade: of a connection that nobody reads it does not show that the client has
 * left. Returns what ends that, and has `head` and all that came after it.
 */
export function readEarly(socket: Duplex, head: Buffer): () => Buffer {
  const pieces = [head];
  let size = head.length;
  const keep = (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    if (size > mostBytes) socket.pause();
  };
  socket.on('data', keep);
  return () => {
    socket.off('data', keep);
    return Buffer.concat(pieces);
  };
}
