import type { CapturedRequest, RequestList } from '../../../operator/agent-client/schemas.ts';
import { table } from '../../table.ts';
import { duration } from './duration.ts';
import { printable } from './printable.ts';

const headings = ['ID', 'START', 'TUNNEL', 'STATUS', 'DURATION', 'METHOD', 'PATH'];
const longestPath = 100;

export function showRequests({ requests }: RequestList): string {
  if (requests.length === 0) return 'no captured requests\n';
  return `${table([headings, ...requests.map((one) => row(one).map(printable))]).join('\n')}\n`;
}

function row({ id, start, tunnel_name: tunnel, response, duration: ns, request }: CapturedRequest): readonly string[] {
  const status = response === null ? '-' : String(response.status_code);
  return [id, seconds(start), tunnel, status, duration(ns), request.method, shortened(request.uri)];
}

/** In UTC, without fractions. */
function seconds(start: string): string {
  const at = new Date(start);
  return Number.isNaN(at.getTime()) ? start : at.toISOString().replace(/\.\d+Z$/, 'Z');
}

function shortened(path: string): string {
  return path.length <= longestPath ? path : `${path.slice(0, longestPath - 1)}…`;
}
