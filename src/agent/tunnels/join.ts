import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Carries bytes both ways with back-pressure until both ends are closed. An end of one direction is passed on and
 * leaves the other open; a failure of either side resets the other.
 */
export function join(one: Duplex, other: Duplex, onClosed: (error?: Error) => void): void {
  let open = 2;
  let failure: Error | undefined;
  const link = (from: Duplex, to: Duplex) => {
    from.pipe(to);
    from.on('error', (error) => {
      failure ??= error;
      reset(to);
    });
    from.on('close', () => {
      if (!from.readableEnded || !from.writableFinished) reset(to);
      open -= 1;
      if (open === 0) onClosed(failure);
    });
  };
  link(one, other);
  link(other, one);
}

/** Resets the connection once no byte has passed for so long, either way. */
export function closeWhenQuiet(client: Socket, quietMs: number): void {
  client.setTimeout(quietMs, () => reset(client));
}

/** Closes so that the peer notices that this was no orderly end. */
export function reset(stream: Duplex): void {
  if (stream.destroyed) return;
  // What is being ended cannot be reset: Node would never close it, nor say so.
  const isEnding = stream.writableEnded && !stream.writableFinished;
  if (stream instanceof Socket && !stream.connecting && !isEnding) stream.resetAndDestroy();
  else stream.destroy();
}
