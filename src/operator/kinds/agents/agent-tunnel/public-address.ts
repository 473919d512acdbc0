import type { ReconcileContext } from '../../../reconcile/context.ts';
import { type Standing, winnerOver } from '../../../reconcile/ownership/ownership.ts';
import { isDeleting, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { type Report, report } from '../../../reconcile/status/outcome.ts';
import type { AgentConnection } from '../registry/agent-connection.ts';
import { agentIdentity, isElsewhere } from '../registry/ownership.ts';
import { words } from '../registry/words.ts';
import type { Spec, Status } from './schema.ts';
import { isShown, type Started } from './started.ts';

/*
 * Where the public reaches a tunnel. An agent that was started anew gives a host name or a port to whoever is the first to start a
 * tunnel: of two namespaces it is to be the one that had it before, by its status, which tenants do not write.
 */

/** What tells apart the public addresses of one agent: the first label of a host, or a port. */
function distinctOf(publicURL: unknown): string | undefined {
  const url = typeof publicURL === 'string' ? URL.parse(publicURL) : null;
  if (url === null) return undefined;
  const label = url.hostname.split('.')[0]?.toLowerCase();
  return /^https?:$/.test(url.protocol) ? label || undefined : url.port && `port ${url.port}`;
}

/** The same of a tunnel that is to be started, and whether it has to be that one. */
function askedFor(
  { proto, options = {} }: Spec,
  name: string,
): { readonly what: string; readonly must: boolean } | undefined {
  const { subdomain, remote_port: port } = options;
  if (typeof subdomain === 'string') return { what: subdomain.toLowerCase(), must: true };
  if (typeof port === 'number' || typeof port === 'string') return { what: `port ${port}`, must: true };
  return proto === 'http' ? { what: name.toLowerCase(), must: false } : undefined;
}

/** Index value under which is found who has it at the agent. */
function claimOn(agentURL: string, what: string): string {
  return `public ${agentIdentity(agentURL)} ${what}`;
}

/** What a resource had when it was last known to have a tunnel. */
export function publicClaimOf({ status }: ManagedObject): string | undefined {
  const { agentURL, publicURL } = (status ?? {}) as Status;
  const what = distinctOf(publicURL);
  return typeof agentURL === 'string' && what !== undefined ? claimOn(agentURL, what) : undefined;
}

/** What the status keeps of it while it does not run: that it was there, for this resource, and its public address. */
export function keptOf(
  object: ManagedObject,
  tunnel: Pick<Started, 'url' | 'name'>,
): Pick<Status, 'agentURL' | 'tunnelName' | 'publicURL'> {
  const { url: agentURL, name: tunnelName } = tunnel;
  const kept = addressKept(object, agentURL);
  return isShown(object, tunnel) ? { ...kept, agentURL, tunnelName } : kept;
}

/** Where the public reached what it had in the agent, however that is spelled, to be reached there again, also under another name. */
export function addressKept({ status }: ManagedObject, url: string): Pick<Status, 'agentURL' | 'publicURL'> {
  const { agentURL, publicURL } = (status ?? {}) as Status;
  const isThere = typeof agentURL === 'string' && agentIdentity(agentURL) === agentIdentity(url);
  return isThere && publicURL !== undefined ? { agentURL, publicURL } : {};
}

/** Why the tunnel is not to be started now: it would get what one of another namespace had. */
export function takenAddress(
  { resource: { object }, peers }: Pick<ReconcileContext<unknown>, 'resource' | 'peers'>,
  agent: Pick<AgentConnection, 'running'>,
  spec: Spec,
  { url, name }: Started,
): Report | undefined {
  const asked = askedFor(spec, name);
  if (asked === undefined) return undefined;
  const claim = claimOn(url, asked.what);
  const standing: Standing = (each) => (publicClaimOf(each) === claim ? 0 : 1);
  const others = peers.claimants(claim).filter((each) => isElsewhere(each, object) && !isDeleting(each));
  const holders = others.filter((each) => standing(each) === 0);
  if (winnerOver(object, holders, standing) === undefined) return undefined;
  // While that runs, the agent has another address for who does not ask for this one by name.
  const runs = agent.running().some(({ public_url }) => distinctOf(words(public_url)) === asked.what);
  if (runs && !asked.must) return undefined;
  const cure = asked.must ? 'ask for another one in spec.options' : 'set spec.tunnelName to another name';
  const message = `the agent is shared, and ${asked.what} is the public address of a tunnel of another namespace`;
  return report('Conflict', `${message}: ${cure}`);
}
