import type { Report } from '../core/run.ts';
import { servants } from './verdicts/look.ts';
import { isLostToBackup, mayBeLeft, takersOf } from './verdicts/tunnels-left.ts';
import { wrongStop } from './verdicts/tunnels-stopped.ts';
import { agentModelOf, type RunningTunnel, type TunnelStart } from './witness/agent-model.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { isPaused, type Resource } from './witness/resource.ts';
import {
  fieldsOtherwise,
  isSameTunnel,
  type TunnelID,
  tunnelRecorded,
  tunnelShown,
  tunnelsAsked,
} from './witness/tunnels-asked.ts';
import type { Witness } from './witness/witness.ts';

/**
 * At rest each AgentTunnel that is Ready has its tunnel in its agent, as it asks, and each tunnel that an operator started has
 * its AgentTunnel; and none is stopped meanwhile but for whoever had it and lets it go.
 */
export function oneTunnelEach(world: Witness, report: Report) {
  // From the beginning.
  kubeModelOf(world);
  agentModelOf(world).stops.add((stop) => {
    const why = wrongStop(world, stop);
    if (why !== undefined) report('one-tunnel-each', `DELETE of ${told(stop.tunnel)} by ${stop.process}: ${why}`);
  });
  const look = () => {
    for (const what of [...lies(world), ...sharedTunnels(world), ...leaks(world)]) report('one-tunnel-each', what);
  };
  return { atRest: look, atEnd: look };
}

function readyTunnels(world: Witness): readonly Resource[] {
  return [...kubeModelOf(world).live.values()].filter(({ kind, ready, version }) => {
    const isOfNow = ready?.status === 'True' && ready.observedGeneration === version.generation;
    return kind === 'AgentTunnel' && isOfNow && !isPaused(version);
  });
}

/** What runs is not what a resource says that it has. */
function lies(world: Witness): readonly string[] {
  return readyTunnels(world)
    .filter((resource) => servants(world, resource).length > 0)
    .flatMap((resource) => {
      const why = whyNot(world, resource);
      return why === undefined ? [] : [`${resource.key} says Ready=True, but ${why}`];
    });
}

/** Undefined: its tunnel runs as it asks. */
function whyNot(world: Witness, resource: Resource): string | undefined {
  const asked = tunnelAsked(world, resource);
  if (asked === undefined) return 'its Agent is not there';
  const running = agentModelOf(world).running.find(({ tunnel }) => isSameTunnel(tunnel, asked));
  if (running === undefined) return `${told(asked)} does not run`;
  if (!isSameTunnel(tunnelShown(resource.status), asked)) return `its status does not name ${told(asked)}`;
  const fields = fieldsOtherwise(resource.version.spec, running.proto, running.config).filter(
    (field) => !isUnknowable(world, running, field),
  );
  return fields.length === 0 ? undefined : `${told(asked)} differs in ${fields.join(', ')}`;
}

/** Started for whom no backup knows, it is what is asked for as far as its agent shows: an option that is not shown may be as asked. */
function isUnknowable(world: Witness, { tunnel, config }: RunningTunnel, field: string): boolean {
  const start = agentModelOf(world).lastStartOf(tunnel);
  const isOption = !['proto', 'addr', 'inspect'].includes(field);
  return isOption && !(field in config) && start?.installation !== undefined && isLostToBackup(world, start);
}

/** Two resources that say they have the same. */
function sharedTunnels(world: Witness): readonly string[] {
  const ready = readyTunnels(world);
  return ready.flatMap((resource, index) => {
    const tunnel = tunnelAsked(world, resource);
    if (tunnel === undefined) return [];
    const others = ready.slice(0, index).filter((each) => isSameTunnel(tunnelAsked(world, each), tunnel));
    return others.map((other) => `${other.key} and ${resource.key} both have ${told(tunnel)}`);
  });
}

/** What an operator started, runs, and belongs to nobody. */
function leaks(world: Witness): readonly string[] {
  return agentModelOf(world).running.flatMap((running) => {
    const start = agentModelOf(world).lastStartOf(running.tunnel);
    if (start?.installation === undefined || isHeld(world, running) || mayBeLeft(world, start)) return [];
    return [`${told(running.tunnel)} is nobody's; started by ${start.process} for ${forWhom(world, start)}`];
  });
}

/** Of somebody who is there: he asks for it, or cannot come to letting it go. */
function isHeld(world: Witness, { tunnel }: RunningTunnel): boolean {
  return [...kubeModelOf(world).live.values()].some((resource) => {
    if (resource.kind !== 'AgentTunnel' || isRefused(resource)) return false;
    if (isSameTunnel(tunnelAsked(world, resource), tunnel)) return true;
    const known = [tunnelShown(resource.status), tunnelRecorded(resource, resource.version)];
    return resource.ready?.status !== 'True' && known.some((each) => isSameTunnel(each, tunnel));
  });
}

/** Another's is what it asks for, or nobody gives it: what it had before it is to have let go. */
function isRefused({ ready }: Resource): boolean {
  return ready?.reason === 'Conflict' || ready?.reason === 'Rejected';
}

/** In its Agent as it is now. */
function tunnelAsked(world: Witness, resource: Resource): TunnelID | undefined {
  const { now } = world.scheduler;
  return tunnelsAsked(world, resource, resource.version, [now, now]).at(-1);
}

function forWhom(world: Witness, start: TunnelStart): string {
  const takers = takersOf(world, start);
  return takers.length === 0 ? 'nobody' : takers.map(({ key }) => key).join(' or ');
}

const told = ({ agent, name }: TunnelID): string => `tunnel ${name} of ${agent}`;
