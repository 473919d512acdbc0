import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock, type WallClock } from './clock.ts';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Dates answers by the clock; Node itself does by that of the system. */
export function dated(clock: WallClock, listener: Listener): Listener {
  if (clock === systemClock) return listener;
  return (request, response) => {
    response.setHeader('Date', new Date(clock.now()).toUTCString());
    listener(request, response);
  };
}
