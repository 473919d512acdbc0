import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What Node keeps with a connection, and goes by itself. */
export interface Served extends Socket {
  /** The answer that is due next; of several requests, to the first. */
  readonly _httpMessage?: ServerResponse | null;
  /** With the request that was read last, or is being read. */
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
}

/** More than clients send before they read, and few enough to be kept. */
const mostWaiting = 100;

/**
 * Has requests wait until those before them on their connection have their answers. Node hands over at once all that were
 * sent at once: what the first changes the second would not see (RFC 9112, section 9.3.2), and the answers of all would be
 * in memory. What it returns calls `go` at the request's turn, and never where the connection ends before; where too many
 * wait, it ends that.
 */
export function inTurn(): (request: IncomingMessage, response: ServerResponse, go: () => void) => void {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }, response, go) => {
    const { _httpMessage: due } = socket as Served;
    if (!due || due === response) return go();
    const before = waiting.get(socket) ?? 0;
    if (before === mostWaiting) return void socket.destroy();
    waiting.set(socket, before + 1);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 0) - 1);
      go();
    });
  };
}
