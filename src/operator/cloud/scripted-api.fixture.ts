import { ApiError } from '../../common/http/errors.ts';
import type { ScriptedServer } from '../../common/http/scripted-server.fixture.ts';
import { json, startScriptedServer } from '../../common/http/scripted-server.fixture.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { CloudClient } from './client.ts';
import { Limiter } from './limiter.ts';
import type { RequestReport, TransportOptions } from './transport.ts';

export { drops, foreign404s, hurried, json, type Respond, text } from '../../common/http/scripted-server.fixture.ts';

/** A scripted server, with clients of it. */
export interface ScriptedAPI extends ScriptedServer {
  readonly reports: readonly RequestReport[];
  client(options?: Partial<TransportOptions>): CloudClient;
}

export async function startScriptedAPI(): Promise<ScriptedAPI> {
  const server = await startScriptedServer();
  const reports: RequestReport[] = [];
  const clients: CloudClient[] = [];
  return {
    ...server,
    reports,
    client: (options = {}) => {
      const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 10_000 });
      const client = new CloudClient({
        ...systemRuntime,
        baseURL: server.url,
        apiKey: () => 'key-for-tests',
        limiter: () => limiter,
        userAgent: 'edge-operator/test',
        onRequest: (report) => reports.push(report),
        ...options,
      });
      clients.push(client);
      return client;
    },
    close: async () => {
      await server.close();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

export const call = { priority: 'change' } as const;

/** As the API shows a bot user. */
export const bot = { id: 'bot_1', uri: 'u', name: 'ci', active: true, created_at: '2026-01-02T03:04:05Z' };

/** What a call failed by. */
export async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const thrown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof ApiError) return thrown;
  throw new Error(`expected an ApiError, not ${String(thrown)}`);
}

/** As the API says that something failed. */
export const error = (status: number, headers = {}) =>
  json(status, { error_code: `ERR_EDGE_${status}`, status_code: status, msg: 'the reason' }, headers);
