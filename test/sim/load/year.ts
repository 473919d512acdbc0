import type { Flight } from '../core/network.ts';
import type { Oracle } from '../core/run.ts';
import type { Act, Story } from '../core/story.ts';
import { manifestsOf } from './resources.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

/** 500 in all; of edges there are twelve. */
export const residents = {
  ReservedAddr: 264,
  BotUser: 200,
  HttpsRouteModules: 12,
  HttpsEdgeModules: 12,
  TlsEdgeTrafficPolicy: 12,
} as const;

export interface YearOptions {
  readonly days: number;
  /** On top of the defaults. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Everything is made in the beginning, and then nobody does anything. */
export function yearStory({ days, settings = {} }: YearOptions): Story {
  const made = manifestsOf(residents).map((object): Act => ({ at: minute, do: 'apply', object }));
  return {
    seed: 1,
    installations: [{ name: 'op', settings }],
    acts: [{ at: 0, do: 'start', installation: 'op' }, ...made],
    // The budget lets so many be made in a quarter of that.
    settleMs: hour,
    calmMs: days * day,
  };
}

/** What the operator did after the beginning. */
export interface Tally {
  cloudReads: number;
  watches: number;
  leaseWrites: number;
}

/** Speaks of everything that is written while nobody does anything. */
export function quiet(tally: Tally): Oracle {
  return (world, report) => {
    const observe = (flight: Flight) => {
      const { to, method, path } = flight;
      if (flight.isWatch) tally.watches += 1;
      else if (method === 'GET') tally.cloudReads += to.name === 'kube' ? 0 : 1;
      else if (/\/leases(\/|$)/.test(path)) tally.leaseWrites += 1;
      else report('quiet', `${method} ${path} at ${to.name}: ${flight.body ?? ''}`);
    };
    return { atRest: () => void world.network.sendings.add(observe) };
  };
}
