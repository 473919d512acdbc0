import { apiTimeouts, type ServerTimeouts } from '../common/http-server/timeouts.ts';

export interface AgentTimeouts {
  readonly api: ServerTimeouts;
  /** `quietMs` also holds after an upgrade, and for tcp and tls tunnels. */
  readonly tunnels: ServerTimeouts;
}

export const usualTimeouts: AgentTimeouts = {
  api: apiTimeouts,
  // An upload may take as long as it takes.
  tunnels: { ...apiTimeouts, requestMs: 0, quietMs: 3_600_000 },
};
