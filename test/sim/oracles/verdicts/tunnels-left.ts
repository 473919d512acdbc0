import { defaultCreateSettleMs } from '../../core/duration.ts';
import { agentModelOf, type TunnelStart } from '../witness/agent-model.ts';
import { disturbancesOf } from '../witness/disturbances.ts';
import { installationsOf } from '../witness/installations.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { domain, isForced, type Resource, type Version } from '../witness/resource.ts';
import { wasTroubled } from '../witness/troubled.ts';
import {
  addressOf,
  isDefinedBy,
  isSameTunnel,
  tunnelRecorded,
  tunnelShown,
  tunnelsAsked,
} from '../witness/tunnels-asked.ts';
import { minute, type Span, second, type Witness } from '../witness/witness.ts';
import { wasFinalizerTaken } from './left-behind.ts';
import { servants } from './look.ts';

const lagMs = 5 * second;

/** Those for whom an operator started the tunnel, or who had it since. */
export function takersOf(world: Witness, start: TunnelStart): readonly Resource[] {
  const span: Span = [disturbancesOf(world).knowledge(start.sentAt, lagMs), start.sentAt];
  return [...kubeModelOf(world).ofKind('AgentTunnel')].filter(
    (resource) => asksFor(world, resource, start, span) || wasShown(resource, start, world.scheduler.now),
  );
}

/** At some moment of that time it asked for that very definition. */
function asksFor(world: Witness, resource: Resource, { tunnel, definition }: TunnelStart, span: Span): boolean {
  if (!resource.livedIn(...span)) return false;
  const versions = resource.versions.during(...span).filter(({ spec }) => isDefinedBy(definition, spec));
  return versions.some((version) =>
    tunnelsAsked(world, resource, version, span).some((each) => isSameTunnel(each, tunnel)),
  );
}

/** Its status proved since that it has the tunnel. */
function wasShown({ statuses }: Resource, { at, tunnel }: TunnelStart, now: number): boolean {
  return statuses.during(at, now).some((status) => isSameTunnel(tunnelShown(status), tunnel));
}

/** Kubernetes went back to a backup from before it was started: no trace is left of it. */
export function isLostToBackup(world: Witness, { sentAt }: Pick<TunnelStart, 'sentAt'>): boolean {
  return wasTroubled(world, 'kube-restored', sentAt);
}

/** Whether a tunnel was left running by what docs/reliability.md does not promise. */
export function mayBeLeft(world: Witness, start: TunnelStart): boolean {
  if (isLostToBackup(world, start) || wasStartedTooLate(world, start)) return true;
  return takersOf(world, start).some((resource) => mayLeave(world, resource, start));
}

function mayLeave(world: Witness, resource: Resource, start: TunnelStart): boolean {
  if (wasForgotten(world, resource, start) || isRefusedAway(world, resource, start)) return true;
  if (resource.lives) return servants(world, resource).length === 0;
  return isForced(resource.version) || wasFinalizerTaken(resource);
}

/**
 * Nobody waits longer than `--create-settle` for whoever acts on a request. After a later one was answered the status proves
 * that, and nothing tells another process of the first.
 */
function wasStartedTooLate(world: Witness, start: TunnelStart): boolean {
  const { at, sentAt, tunnel, installation } = start;
  if (at - sentAt > defaultCreateSettleMs) return true;
  const model = agentModelOf(world);
  const isOvertaken = model.startsOf(tunnel).some((other) => other.sentAt > sentAt && model.wasAnswered(other));
  const history = installationsOf(world).get(installation ?? '');
  return isOvertaken && history !== undefined && history.startsIn(sentAt, at + minute) > 0;
}

/**
 * A person took its record from it since, as a manifest that replaces the whole of it does, or set that back to an older one, and
 * nobody was there to put it back.
 */
function wasForgotten(world: Witness, resource: Resource, start: TunnelStart): boolean {
  const { tunnel, sentAt } = start;
  const all = resource.versions.all;
  return all.some((version, index) => {
    const before = all[index - 1];
    if (version.by !== undefined || before === undefined || version.at < sentAt) return false;
    const isOther = recordIn(version) !== recordIn(before);
    if (!isOther || !isSameTunnel(tunnelRecorded(resource, before), tunnel)) return false;
    const writtenAt = all.slice(index).find(({ by }) => by !== undefined)?.at ?? resource.goneAt;
    return !isServed(world, start, version.at, writtenAt);
  });
}

const recordIn = ({ annotations }: Version) => annotations[`${domain}/started-tunnel`];

/** So long a process that did not write a record itself takes what it reads for what another one wrote. */
const knownWithinMs = 6 * minute;

/** One process was to run all the while, and nothing kept it from writing, from when it knew the record until it wrote again. */
function isServed(world: Witness, { sentAt, installation }: TunnelStart, at: number, writtenAt = at): boolean {
  const history = installationsOf(world).get(installation ?? '');
  const [from, to] = [Math.max(sentAt, at - knownWithinMs), Math.max(writtenAt, at + writesWithinMs)];
  if (history?.isWanted(at) !== true || history.startsIn(from, to) > 0) return false;
  const { all } = disturbancesOf(world);
  return !all.some((each) => each.name !== 'start' && each.from <= to && each.overAt >= from);
}

/** Nothing listened at an address that no Agent was to keep, when it was to be stopped there. */
function isRefusedAway(world: Witness, resource: Resource, { tunnel }: TunnelStart): boolean {
  const at = letGoAt(resource, tunnel);
  if (at === undefined || isAgentKept(world, tunnel.agent, at)) return false;
  const isGoing = resource.versions.at(at)?.deleting === true;
  return wasRefusing(world, isGoing ? at : at - waitedForMs, writesWithinMs);
}

/** By whoever stays, and asks for it elsewhere. */
const waitedForMs = 2 * minute;

/** When it had it on record no more, or went. */
function letGoAt(resource: Resource, tunnel: TunnelStart['tunnel']): number | undefined {
  const all = resource.versions.all;
  const last = all.findLastIndex((version) => isSameTunnel(tunnelRecorded(resource, version), tunnel));
  return last < 0 ? undefined : (all[last + 1]?.at ?? resource.goneAt);
}

/** A write that is refused is tried again for so long. */
const writesWithinMs = minute;

/** Agents took no connections. */
export function wasRefusing(world: Witness, at: number, afterMs = 0): boolean {
  return wasTroubled(world, 'refused-connections', at, { with: { to: 'agents' }, afterMs });
}

/** Some Agent of that address was there and was to stay, for as long as an operator may have known. */
function isAgentKept(world: Witness, agent: string, at: number): boolean {
  const span: Span = [disturbancesOf(world).knowledge(at, lagMs), at];
  return [...kubeModelOf(world).ofKind('Agent')].some((each) => {
    if (each.createdAt > span[0] || (each.goneAt !== undefined && each.goneAt <= at)) return false;
    const versions = each.versions.during(...span);
    return versions.every((version) => !version.deleting && addressOf(each, version) === agent);
  });
}
