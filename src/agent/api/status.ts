import { connect } from 'node:net';
import type { Address } from '../../common/listen.ts';
import type { CloudStatus } from '../leases/start-leases.ts';
import type { Ticks } from '../metrics/rate.ts';

/** Agent status (Local Agent API, section 2). */
export interface AgentStatus {
  readonly status: 'online';
  readonly agent_version: string;
  readonly session: { readonly legs: readonly { readonly region: string; readonly latency: string }[] };
  readonly uri: '/api/status';
  /** Of our own, when endpoints are registered at a cloud. */
  readonly cloud?: CloudStatus;
}

export interface StatusParts {
  readonly version: string;
  readonly region: string;
  readonly edge: Address;
  readonly ticks: Ticks;
  readonly cloud: CloudStatus | undefined;
}

/** There is one leg, to the agent's own edge; its latency is that of a connection made for it. */
export async function agentStatus({ version, region, edge, ticks, cloud }: StatusParts): Promise<AgentStatus> {
  const start = ticks();
  await connected(edge);
  const latency = `${(ticks() - start).toFixed(3)}ms`;
  const session = { legs: [{ region, latency }] };
  const own = cloud === undefined ? {} : { cloud };
  return { status: 'online', agent_version: version, session, uri: '/api/status', ...own };
}

function connected({ host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: ['', '0.0.0.0', '::'].includes(host) ? 'localhost' : host, port });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}
