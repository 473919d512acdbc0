import { Readable } from 'node:stream';
import { z } from 'zod';
import type { JsonRoute } from '../../common/http-server/json-app.ts';
import type { Capture } from '../captures/capture.ts';
import type { Captures } from '../captures/captures.ts';
import { AgentProblem } from '../problem.ts';
import { type Replays, readReplay } from '../replay.ts';
import { TimeSlice } from '../time-slice.ts';
import { readDefinition } from '../tunnels/definition.ts';
import type { Tunnel } from '../tunnels/tunnel.ts';
import type { Tunnels } from '../tunnels/tunnels.ts';
import type { AgentStatus } from './status.ts';
import { wireCapture, wireTunnel } from './wire.ts';

/** What routes see of a request. */
export interface ApiRequest {
  /** The last segment of the path, decoded. */
  readonly param: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** An operation (Local Agent API, section 4). */
export type Route = JsonRoute<ApiRequest>;

export interface ApiParts {
  readonly tunnels: Tunnels;
  readonly captures: Captures;
  readonly replays: Replays;
  readonly status: () => Promise<AgentStatus>;
}

const root = {
  uri: '/api/',
  tunnels_uri: '/api/tunnels',
  requests_uri: '/api/requests/http',
  status_uri: '/api/status',
};

/** The ten operations. */
export function apiRoutes(parts: ApiParts): readonly Route[] {
  return [
    { method: 'GET', path: '/api/', status: 200, handle: () => root },
    { method: 'GET', path: '/api/status', status: 200, handle: parts.status },
    ...tunnelRoutes(parts),
    ...requestRoutes(parts),
  ];
}

function tunnelRoutes({ tunnels }: ApiParts): readonly Route[] {
  const path = '/api/tunnels';
  return [
    { method: 'GET', path, status: 200, handle: () => ({ tunnels: tunnels.list().map(wireTunnel), uri: path }) },
    {
      method: 'POST',
      path,
      status: 201,
      handle: async ({ body }) => wireTunnel(await tunnels.start(readDefinition(body))),
    },
    {
      method: 'GET',
      path: `${path}/:key`,
      status: 200,
      handle: ({ param }) => wireTunnel(known(tunnels.get(param), param)),
    },
    {
      method: 'DELETE',
      path: `${path}/:key`,
      status: 204,
      handle: ({ param }) => {
        known(tunnels.get(param), param);
        tunnels.stop(param);
      },
    },
  ];
}

function requestRoutes({ captures, replays }: ApiParts): readonly Route[] {
  const path = '/api/requests/http';
  return [
    {
      method: 'GET',
      path,
      status: 200,
      // One at a time: all of them may be more than a string can hold.
      handle: ({ query }) => Readable.from(listText(path, captures.list(readFilter(query))), { highWaterMark: 1 }),
    },
    { method: 'POST', path, status: 204, handle: ({ body }) => void replays.replay(readReplay(body)) },
    { method: 'DELETE', path, status: 204, handle: () => captures.clear() },
    {
      method: 'GET',
      path: `${path}/:id`,
      status: 200,
      handle: ({ param }) => {
        const capture = captures.get(param);
        if (capture === undefined)
          throw new AgentProblem('requestUnknown', `no captured request has the id "${param}"`);
        return wireCapture(capture);
      },
    },
  ];
}

/** A reader that keeps up is no reason to wait, so that slices of time are what traffic has to go on in. */
async function* listText(uri: string, captures: readonly Capture[]): AsyncGenerator<string> {
  const slice = new TimeSlice();
  yield `{"uri":${JSON.stringify(uri)},"requests":[`;
  let separator = '';
  for (const capture of captures) {
    if (slice.isOver) await slice.next();
    if (capture.evicted) continue;
    yield separator + JSON.stringify(wireCapture(capture));
    separator = ',';
  }
  yield ']}';
}

function known(tunnel: Tunnel | undefined, key: string): Tunnel {
  if (tunnel === undefined) throw new AgentProblem('tunnelUnknown', `no tunnel named "${key}" is running`);
  return tunnel;
}

const filterSchema = z.object({
  limit: z
    .string()
    .regex(/^[1-9]\d*$/)
    .transform(Number)
    .optional(),
  tunnel_name: z.string().optional(),
});

/** Other query parameters are ignored; an empty `tunnel_name` is none. */
function readFilter(query: unknown): { readonly limit?: number | undefined; readonly tunnel?: string | undefined } {
  const parsed = filterSchema.safeParse(query);
  if (parsed.success) return { limit: parsed.data.limit, tunnel: parsed.data.tunnel_name || undefined };
  const [field = 'limit'] = parsed.error.issues[0]?.path ?? [];
  const rule = field === 'limit' ? 'must be a whole number of at least 1' : 'must be given once';
  throw new AgentProblem('queryInvalid', `invalid query parameter "${String(field)}": ${rule}`);
}
