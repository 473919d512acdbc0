import { systemClock } from '../../common/clock.ts';
import type { Credential } from '../../common/credential/credential.ts';
import type { Log } from '../../common/log.ts';
import type { Random } from '../ids.ts';
import type { Ticks } from '../metrics/rate.ts';
import type { Tunnels } from '../tunnels/tunnels.ts';
import { LeaseClient } from './lease-client.ts';
import { type LeaseStatus, Leases } from './leases.ts';

/** Where the agent's endpoints are registered. */
export interface CloudTarget {
  /** Base URL. */
  readonly url: string;
  readonly credential: Credential;
}

export interface StartLeasesOptions {
  readonly cloud: CloudTarget;
  readonly tunnels: Tunnels;
  readonly region: string;
  readonly version: string;
  readonly ticks: Ticks;
  readonly random: Random;
  readonly log: Log;
}

export interface CloudStatus extends LeaseStatus {
  readonly url: string;
}

export interface RunningLeases {
  status(): CloudStatus;
  /** Withdraws every endpoint; takes 10 s at most. */
  close(): Promise<void>;
}

/** Keeps the tunnels registered at the cloud. Whatever the cloud does or does not, the tunnels go on. */
export function startLeases({ cloud, tunnels, version, ...rest }: StartLeasesOptions): RunningLeases {
  const { url, credential } = cloud;
  const log = rest.log.child({ cloud: url });
  const client = new LeaseClient({ url, key: () => credential.key(), userAgent: `edge-operator-agent/${version}` });
  const leases = new Leases({ ...rest, client, log, sleep: systemClock.sleep, tunnels: () => tunnels.list() });
  const stop = new AbortController();
  tunnels.subscribe(() => leases.syncNow());
  const running = Promise.all([
    leases.run(stop.signal).catch((error) => log.error('endpoints are no longer registered', { error })),
    credential.watch(systemClock, log, stop.signal, () => leases.retryFailed()),
  ]);
  return {
    status: () => ({ url, ...leases.status() }),
    close: async () => {
      stop.abort();
      await running;
      await client.close();
    },
  };
}
