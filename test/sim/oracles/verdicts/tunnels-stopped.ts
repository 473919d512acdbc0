import { agentModelOf, type TunnelStop } from '../witness/agent-model.ts';
import { disturbancesOf } from '../witness/disturbances.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import type { Resource } from '../witness/resource.ts';
import { isDefinedBy, isSameTunnel, tunnelShown, tunnelsAsked } from '../witness/tunnels-asked.ts';
import { type Span, second, type Witness } from '../witness/witness.ts';
import { isLostToBackup, takersOf } from './tunnels-left.ts';

/** An operator that is not disturbed acts on what was so within this time. */
const lagMs = 5 * second;

/**
 * Why an operator was not to stop the tunnel when it sent that, however late the agent did it; undefined: somebody who had it
 * lets it go.
 */
export function wrongStop(world: Witness, stop: TunnelStop): string | undefined {
  const { start, installation } = stop;
  if (installation === undefined || start === undefined || isLostToBackup(world, start)) return undefined;
  const span: Span = [disturbancesOf(world).knowledge(stop.sentAt, lagMs), stop.sentAt];
  const takers = takersOf(world, start).filter((resource) => resource.createdAt <= stop.sentAt);
  const leaving = takers.filter((resource) => letsGo(world, resource, stop, span));
  if (leaving.length === 0) return `no AgentTunnel that had it lets it go; had by ${keysOf(takers)}`;
  if (leaving.some((resource) => isProven(resource, stop, span, 'some'))) return undefined;
  const robbed = takers
    .filter((resource) => !leaving.includes(resource) && isProven(resource, stop, span, 'every'))
    .find(({ namespace }) => leaving.every((each) => each.namespace !== namespace));
  return robbed && `${robbed.key} has it and asks for it; let go by ${keysOf(leaving)}`;
}

const tunnels = (world: Witness): readonly Resource[] => [...kubeModelOf(world).ofKind('AgentTunnel')];

/** Deleted, renamed, moved, edited; or somebody of its own namespace is to have it. */
function letsGo(world: Witness, resource: Resource, stop: TunnelStop, span: Span): boolean {
  const { start, tunnel } = stop;
  // Nobody knows which definition it is that runs.
  if (start === undefined || !agentModelOf(world).wasAnswered(start)) return true;
  if (resource.goneAt !== undefined && resource.goneAt <= span[1]) return true;
  const isOther = resource.versions.during(...span).some((version) => {
    if (version.deleting || !isDefinedBy(start.definition, version.spec)) return true;
    const asked = tunnelsAsked(world, resource, version, span);
    return asked.length === 0 || asked.some((each) => !isSameTunnel(each, tunnel));
  });
  return isOther || hasRival(world, resource, stop, span);
}

/** Of its own namespace: which of the two is to have it no oracle asks. */
function hasRival(world: Witness, resource: Resource, { tunnel }: TunnelStop, span: Span): boolean {
  return tunnels(world).some((other) => {
    if (other === resource || other.namespace !== resource.namespace || !other.livedIn(...span)) return false;
    return other.versions
      .during(...span)
      .some((version) => tunnelsAsked(world, other, version, span).some((each) => isSameTunnel(each, tunnel)));
  });
}

/** Its status proves the tunnel, at some moment of that time or all along. */
function isProven(resource: Resource, { tunnel }: TunnelStop, span: Span, when: 'some' | 'every'): boolean {
  return resource.statuses.during(...span)[when]((status) => isSameTunnel(tunnelShown(status), tunnel));
}

const keysOf = (resources: readonly Resource[]): string => resources.map(({ key }) => key).join(', ') || 'nobody';
