import type { AgentStatus } from '../../../operator/agent-client/schemas.ts';
import { table } from '../../table.ts';
import { printable } from './printable.ts';

export function showStatus({ status, agent_version: version, session }: AgentStatus): string {
  const legs = session.legs.map(({ region, latency }) => `${region} (${latency})`).join(', ');
  const rows = [
    ['STATUS', 'VERSION', 'LEGS'],
    [status, version, legs],
  ];
  return `${table(rows.map((row) => row.map(printable))).join('\n')}\n`;
}
