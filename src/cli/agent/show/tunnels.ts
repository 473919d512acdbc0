import type { Tunnel } from '../../../operator/agent-client/schemas.ts';
import { table } from '../../table.ts';
import { duration } from './duration.ts';
import { printable } from './printable.ts';

const headings = ['NAME', 'PROTO', 'PUBLIC URL', 'ADDR', 'INSPECT', 'CONNS', 'REQUESTS', 'P50', 'P99'];

export function showTunnels(tunnels: readonly Tunnel[]): string {
  if (tunnels.length === 0) return 'no tunnels\n';
  return `${table([headings, ...tunnels.map((tunnel) => row(tunnel).map(printable))]).join('\n')}\n`;
}

function row(tunnel: Tunnel): readonly string[] {
  const { proto, public_url: url, config, metrics } = tunnel;
  const { conns, http } = metrics;
  return [
    keyOf(tunnel),
    proto,
    url,
    config.addr,
    String(config.inspect),
    String(conns.count),
    proto === 'http' ? String(http.count) : '-',
    ...[http.p50, http.p99].map((percentile) => (http.count === 0 ? '-' : duration(percentile))),
  ];
}

/** The name by which `agent tunnels stop` and `agent replay` find it; an unnamed tunnel has one in its `uri` only. */
function keyOf({ name, uri }: Tunnel): string {
  return name || (uri.split('/').at(-1) ?? '');
}
