import type { Flight } from '../core/network.ts';
import type { Report } from '../core/run.ts';
import { keyOf } from './witness/cloud-model.ts';
import { ByKey, RollingCount } from './witness/rolling-count.ts';
import { installationOf } from './witness/who.ts';
import { minute, type Witness } from './witness/witness.ts';

/** So many refusals in a row are no matter of a single permission. */
const refusalsThatTell = 3;
const spanMs = 10 * minute;
/**
 * After 10 s, doubling to 5 minutes; some where the list that is to tell what was refused has no answer; and one a minute
 * for people who ask.
 */
const mostTries = 6 + 8 + spanMs / minute;

interface Standing {
  refusals: number;
  /** Since they told. */
  readonly tries: RollingCount;
}

/** A key that the service refuses (401, or 403 to everything) is tried rarely by the process that knows it. */
export function knownBadKey(world: Witness, report: Report) {
  const standings = new ByKey((): Standing => ({ refusals: 0, tries: new RollingCount(spanMs) }));
  const of = (flight: Flight) => standings.of(flight.from.name, flight.to.name, keyOf(flight));
  const { network, scheduler } = world;
  network.arrivals.add((flight, { status }) => {
    if (!concerns(flight)) return;
    const standing = of(flight);
    if (status === 401 || status === 403) standing.refusals += 1;
    else {
      standing.refusals = 0;
      standing.tries.clear();
    }
  });
  network.sendings.add((flight) => {
    if (!concerns(flight)) return;
    const { refusals, tries } = of(flight);
    if (refusals < refusalsThatTell) return;
    tries.add(scheduler.now);
    if (tries.count(scheduler.now) <= mostTries) return;
    const { from, to } = flight;
    report(
      'known-bad-key',
      `${from.name} sends more than ${mostTries} requests in 10 minutes to ${to.name} with a key that was refused`,
    );
  });
  return {};
}

const concerns = ({ to, from }: Flight): boolean => to.name !== 'kube' && installationOf(from.name) !== undefined;
