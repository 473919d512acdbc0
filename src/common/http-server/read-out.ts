import type { IncomingMessage } from 'node:http';
import { readOutMs } from './timeouts.ts';

/** Resolves when all of the request has come, or none of it comes any more; what does come is for nobody. */
export function readOut(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, readOutMs).unref();
    request.once('end', done).once('error', done).once('close', done).resume();
  });
}
