import { apiPrefixOf } from '../../../agent-client/client.ts';
import type { Standing } from '../../../reconcile/ownership/ownership.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { startedOf } from '../agent-tunnel/started.ts';

/** A tunnel, whoever may reach the agent by whatever name and from whatever namespace. */
export interface TunnelID {
  /** As {@link agentIdentity} has it. */
  readonly agent: string;
  readonly name: string;
}

/** One text for all addresses of an agent that differ in spelling only. */
export function agentIdentity(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  const host = parsed.hostname.replace(/\.$/, '').replace(/\.svc\.cluster\.local$/, '.svc');
  const port = parsed.port || (parsed.protocol === 'https:' ? '443' : '80');
  return `${host}:${port}${apiPrefixOf(parsed)}`;
}

/** Index value under which every resource that has, or says to have, started the tunnel is found. */
export function claimOn({ agent, name }: TunnelID): string {
  return `at ${agent} ${name}`;
}

/** What a resource holds by its status and by its record. */
export function claimsOf(object: ManagedObject): readonly string[] {
  return [shownBy(object), recordedBy(object)].flatMap((tunnel) => (tunnel === undefined ? [] : [claimOn(tunnel)]));
}

/** The resource certainly started the tunnel, or was the first to adopt it. */
export function hasMade(object: ManagedObject, tunnel: TunnelID): boolean {
  return isSame(shownBy(object), tunnel);
}

/** By the status, which tenants do not write, before a record, and that before a wish. */
export function standingOnTunnel(tunnel: TunnelID): Standing {
  return (object) => {
    if (hasMade(object, tunnel)) return 0;
    return isSame(recordedBy(object), tunnel) ? 1 : 2;
  };
}

export function isElsewhere(object: ManagedObject, other: ManagedObject): boolean {
  return object.metadata.namespace !== other.metadata.namespace;
}

function isSame(known: TunnelID | undefined, tunnel: TunnelID): boolean {
  return known !== undefined && known.agent === tunnel.agent && known.name === tunnel.name;
}

function shownBy({ status }: ManagedObject): TunnelID | undefined {
  const { agentURL, tunnelName } = status ?? {};
  if (typeof agentURL !== 'string' || typeof tunnelName !== 'string') return undefined;
  return { agent: agentIdentity(agentURL), name: tunnelName };
}

function recordedBy(object: ManagedObject): TunnelID | undefined {
  const started = startedOf(object);
  return started && { agent: agentIdentity(started.url), name: started.name };
}
