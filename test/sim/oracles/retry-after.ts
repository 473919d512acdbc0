import type { Flight } from '../core/network.ts';
import type { Report } from '../core/run.ts';
import type { Answer } from '../core/server.ts';
import { keyOf } from './witness/cloud-model.ts';
import { ByKey } from './witness/rolling-count.ts';
import { installationOf } from './witness/who.ts';
import { hour, second, type Witness } from './witness/witness.ts';

/** More is not to be believed. */
const longestMs = hour;
/** Dates have whole seconds, and clocks of services drift. */
const dateSlackMs = 2 * second;
const slackMs = second / 2;

/**
 * After a 429 with a Retry-After has reached a process, that process sends nothing with the same key until it has run
 * out. A process that is started meanwhile cannot know.
 */
export function retryAfter(world: Witness, report: Report) {
  const pauses = new ByKey(() => ({ from: 0, until: 0 }));
  const of = (flight: Flight) => pauses.of(flight.from.name, flight.to.name, keyOf(flight));
  const { scheduler, network } = world;
  network.arrivals.add((flight, answer) => {
    if (answer.status !== 429 || !concerns(flight)) return;
    const pauseMs = pauseOf(answer);
    const pause = of(flight);
    if (pauseMs === undefined || scheduler.now + pauseMs <= pause.until) return;
    Object.assign(pause, { from: scheduler.now, until: scheduler.now + pauseMs });
  });
  network.sendings.add((flight) => {
    if (!concerns(flight)) return;
    const { from, until } = of(flight);
    const leftMs = until - scheduler.now;
    if (scheduler.now <= from || leftMs <= slackMs) return;
    const { method, path, to } = flight;
    report(
      'retry-after',
      `${method} ${to.name} ${path} by ${flight.from.name}, ${Math.round(leftMs)} ms too soon after a 429`,
    );
  });
  return {};
}

const concerns = ({ to, from }: Flight): boolean => to.name !== 'kube' && installationOf(from.name) !== undefined;

/** RFC 9110, section 10.2.3; undefined where it says nothing, or nothing that anybody would wait for. */
function pauseOf({ headers }: Answer): number | undefined {
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(value)) return within(Number(value) * second);
  const [until, now] = [Date.parse(value), Date.parse(headers.date ?? '')];
  return /GMT$/.test(value) ? within(until - now - dateSlackMs) : undefined;
}

function within(ms: number): number | undefined {
  return ms > 0 && ms <= longestMs ? ms : undefined;
}
