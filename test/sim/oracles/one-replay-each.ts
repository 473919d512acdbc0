import type { Flight } from '../core/network.ts';
import type { Report } from '../core/run.ts';
import { isLostToBackup, wasRefusing } from './verdicts/tunnels-left.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { isForgotten, replayOf, replaysAsking } from './witness/replays-asked.ts';
import { conditionOf, type Resource } from './witness/resource.ts';
import { installationOf } from './witness/who.ts';
import type { Witness } from './witness/witness.ts';

/** A replay that was sent, and may have been carried out. */
interface Sending {
  readonly flight: Flight;
  readonly replay: string;
  /** For one of these. */
  readonly takers: readonly Resource[];
}

/**
 * For each RequestReplay at most one request is sent that may be carried out, with its intent on record before; what is Complete
 * was answered so, and what was answered so to a process that goes on is not said to be unknown.
 */
export function oneReplayEach(world: Witness, report: Report) {
  // From the beginning.
  kubeModelOf(world);
  const sendings = new Map<Flight, Sending>();
  const answered = new Set<Resource>();
  const known = new Map<Resource, Sending>();
  const say = (what: string) => report('one-replay-each', what);

  world.network.sendings.add((flight) => {
    const replay = replayOf(flight);
    if (replay === undefined || installationOf(flight.from.name) === undefined) return;
    const sending = { flight, replay, takers: replaysAsking(world, flight) };
    const before = [...sendings.values()].filter((each) => each.replay === replay && !isNothing(world, each));
    sendings.set(flight, sending);
    const told = `POST of ${replay} by ${flight.from.name}`;
    if (sending.takers.length === 0) say(`${told}: nobody has it on record`);
    else if (!hasOneEach([...before, sending])) say(`${told}: it was sent for ${namesOf(sending)} before`);
  });
  world.network.arrivals.add((flight, { status }) => {
    const sending = sendings.get(flight);
    if (status < 300) for (const resource of sending?.takers ?? []) answered.add(resource);
    const [taker, ...others] = sending?.takers ?? [];
    if (status < 300 && sending && taker && others.length === 0) known.set(taker, sending);
    if (isRefusal(status)) sendings.delete(flight);
  });
  const look = () => {
    for (const resource of kubeModelOf(world).live.values()) {
      const isComplete = conditionOf(resource.status, 'Complete')?.status === 'True';
      if (resource.kind === 'RequestReplay' && isComplete && !answered.has(resource))
        say(`${resource.key} says Complete=True, but nothing was answered to it`);
      const sending = known.get(resource);
      const isUnknown = conditionOf(resource.status, 'Failed')?.reason === 'OutcomeUnknown';
      if (sending && isUnknown && !isNothing(world, sending) && goesOn(world, sending))
        say(`${resource.key} says OutcomeUnknown, but it was answered to ${sending.flight.from.name}`);
    }
  };
  return { atRest: look, atEnd: look };
}

/** Nobody says any more that it was sent, or certainly it was not. */
function isNothing(world: Witness, { flight, takers }: Sending): boolean {
  const { sentAt, arrivedAt } = flight;
  if (isLostToBackup(world, flight) || takers.some((resource) => isForgotten(resource, sentAt))) return true;
  return arrivedAt === undefined && wasRefusing(world, sentAt);
}

/** Who sent it is the only one of its installation, and was not replaced since. */
function goesOn({ story, beginnings }: Witness, { flight: { from, sentAt } }: Sending): boolean {
  const { name, replicas = 1 } = story.installations.find((each) => each.name === installationOf(from.name)) ?? {};
  return replicas === 1 && !beginnings.some((it) => it.installation === name && !it.rotated && it.at > sentAt);
}

/** The agent's word that it did nothing; others who answer for it may not know. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 460, 499].includes(status);
}

/** Whether each can be for another resource: several may ask for the same. */
function hasOneEach(sendings: readonly Sending[]): boolean {
  const takenBy = new Map<Resource, Sending>();
  const take = (sending: Sending, tried: Set<Resource>): boolean =>
    sending.takers.some((resource) => {
      if (tried.has(resource)) return false;
      tried.add(resource);
      const other = takenBy.get(resource);
      if (other !== undefined && !take(other, tried)) return false;
      takenBy.set(resource, sending);
      return true;
    });
  return sendings.filter(({ takers }) => takers.length > 0).every((each) => take(each, new Set()));
}

const namesOf = ({ takers }: Sending): string => takers.map(({ key }) => key).join(' and ');
