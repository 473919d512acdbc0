import type { ReconcileContext } from '../../../reconcile/context.ts';
import { winnerOver } from '../../../reconcile/ownership/ownership.ts';
import { keyOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { type Report, report } from '../../../reconcile/status/outcome.ts';
import { agentKeyOf } from '../registry/agents.ts';
import { agentIdentity, claimOn, isElsewhere, standingOnTunnel } from '../registry/ownership.ts';
import { addressKept } from './public-address.ts';
import type { Started } from './started.ts';

type Context = Pick<ReconcileContext<unknown>, 'resource' | 'peers'>;

/** What it asks for in its Agent. */
export function claimIn(object: ManagedObject): string {
  return `${agentKeyOf(object)} ${nameOf(object)}`;
}

export function nameOf({ metadata, spec }: ManagedObject): string {
  return typeof spec.tunnelName === 'string' ? spec.tunnelName : metadata.name;
}

/** Of the same Agent, or of another one that leads to the same agent. */
export function rivalOf({ resource: { object }, peers }: Context, { url, name }: Started): ManagedObject | undefined {
  const tunnel = { agent: agentIdentity(url), name };
  const claimants = [claimIn(object), claimOn(tunnel)].flatMap((claim) => peers.claimants(claim));
  return winnerOver(object, claimants, standingOnTunnel(tunnel));
}

/** What the status says of it. */
export function conflict({ resource: { object } }: Context, { url, name }: Started, rival: ManagedObject): Report {
  const message = isElsewhere(rival, object) ? heldElsewhere(name) : heldBy(rival);
  return report('Conflict', message, { fields: addressKept(object, url) });
}

function heldBy(rival: ManagedObject): string {
  return `the tunnel is managed by ${rival.kind} ${keyOf(rival)}, which made it or is older: remove one of the two`;
}

function heldElsewhere(name: string): string {
  return `the agent is shared, and its tunnel ${name} is managed by a resource of another namespace: set spec.tunnelName to another name`;
}
