import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What Node keeps with a connection, and goes by itself. */
export interface Served extends Socket {
  /** The answer that is due next; of several requests, to the first. */
  readonly _httpMessage?: ServerResponse | null;
  /** With the request that was read last, or is being read. */
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
}

/**
 * Calls when those before it on its connection have their answers, and never where that ends before. Node hands over at
 * once all that were sent at once: what the first changes the second would not see (RFC 9112, section 9.3.2), and the
 * answers of all would be in memory.
 */
export function inTurn({ socket }: IncomingMessage, response: ServerResponse, go: () => void): void {
  const { _httpMessage: due } = socket as Served;
  if (due && due !== response) response.once('socket', () => go());
  else go();
}
