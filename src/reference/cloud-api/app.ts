import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WallClock } from '../../common/clock.ts';
import { createJsonApp, serve } from '../../common/http-server/json-app.ts';
import type { ServerTimeouts } from '../../common/http-server/timeouts.ts';
import { controlRoutes } from './control.ts';
import { type Injection, injectFaults } from './faults/inject.ts';
import { type Access, type Guarded, guard } from './guard.ts';
import { type OnFailure, readJson, refusal } from './http.ts';
import { type Journal, keepJournal } from './journal.ts';
import { openApi } from './openapi.ts';
import type { ApiRequest, Operation, Route } from './operation.ts';
import { ApiProblem } from './problem.ts';

export interface AppParts extends Guarded, Injection {
  readonly clock: WallClock;
  readonly operations: readonly Operation[];
  /** Where agents report to; no part of the API, so they take nothing of its rate limit. */
  readonly agentRoutes: readonly Route[];
  /** With it, requests are recorded and test control is served. */
  readonly journal: Journal | undefined;
  /** Base URL of `uri` values; else that of the request's Host header. */
  readonly baseUrl: string | undefined;
  readonly timeouts: ServerTimeouts;
  readonly onFailure: OnFailure;
}

/** The operations over HTTP. Hooks run in this order: journal, faults, key, rate limit, version, path and method. */
export function createApp(parts: AppParts): FastifyInstance {
  const app = createJsonApp({
    name: 'server',
    timeouts: parts.timeouts,
    readBody: readJson,
    refusal: (error, unforeseen) => refusal(error, unforeseen, parts),
  });
  if (parts.journal !== undefined) keepJournal(app, parts.journal, parts.clock);
  injectFaults(app, parts);
  const read = requestReader(guard(app, parts), parts.baseUrl);
  const { operations, agentRoutes, journal, faults, baseUrl } = parts;
  serve(app, operations.map(withPath), { read, refuse });
  serve(app, agentRoutes.map(withPath), { read, refuse, config: { access: 'unmetered' satisfies Access } });
  const control = journal === undefined ? [] : controlRoutes(faults, journal);
  const document: Route = {
    method: 'GET',
    path: '/openapi.json',
    status: 200,
    handle: () => openApi(operations, baseUrl),
  };
  serve(app, [document], { read, refuse, config: { access: 'open' satisfies Access } });
  serve(app, control, { read, refuse, config: { access: 'control' satisfies Access } });
  return app;
}

function requestReader(accountOf: (request: FastifyRequest) => string, baseUrl: string | undefined) {
  return (request: FastifyRequest): ApiRequest => ({
    account: accountOf(request),
    params: request.params as Record<string, string>,
    query: request.query as Record<string, unknown>,
    body: request.body,
    base: baseUrl ?? `http://${request.host}`,
  });
}

const refuse = (method: string, allow: string) =>
  new ApiProblem('methodNotAllowed', `${method} is not allowed here; allowed: ${allow}`);

/** Parameters are never empty: `/bot_users/` is no path. */
const withPath = (route: Route): Route => ({ ...route, path: route.path.replace(/:\w+/g, '$&(^.+$)') });
