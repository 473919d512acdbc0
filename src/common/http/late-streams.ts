import { subscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';

/*
 * Imported by whoever opens connections. Of an HTTP/2 request that was given up the answer may be under way: Node makes
 * another stream of it, which undici knows nothing of. When the connection breaks, the `error` of that stream has no listener
 * and would end the process.
 */
subscribe('http2.client.stream.created', (message) => {
  (message as { readonly stream: EventEmitter }).stream.on('error', () => {});
});
