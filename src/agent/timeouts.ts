import type { ServerTimeouts } from '../common/http-server/timeouts.ts';

export interface AgentTimeouts {
  readonly api: ServerTimeouts;
  /** `quietMs` also holds after an upgrade, and for tcp and tls tunnels. */
  readonly tunnels: ServerTimeouts;
}

const common = { headMs: 60_000, keepAliveMs: 65_000, checkMs: 5_000 };

export const usualTimeouts: AgentTimeouts = {
  api: { ...common, requestMs: 60_000, quietMs: 120_000 },
  // An upload may take as long as it takes.
  tunnels: { ...common, requestMs: 0, quietMs: 3_600_000 },
};
