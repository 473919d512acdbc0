import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createJsonApp, serve } from '../../common/http-server/json-app.ts';
import { controlRoutes } from './control.ts';
import { type Injection, injectFaults } from './faults/inject.ts';
import { type Access, type Guarded, guard } from './guard.ts';
import { answerError, type OnFailure, readJson } from './http.ts';
import { type Journal, keepJournal } from './journal.ts';
import { openApi } from './openapi.ts';
import type { ApiRequest, Operation, Route } from './operation.ts';
import { ApiProblem } from './problem.ts';

const methods = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface AppParts extends Guarded, Injection {
  readonly operations: readonly Operation[];
  /** Where agents report to; no part of the API, so they take nothing of its rate limit. */
  readonly agentRoutes: readonly Route[];
  /** With it, requests are recorded and test control is served. */
  readonly journal: Journal | undefined;
  /** Base URL of `uri` values; else that of the request's Host header. */
  readonly baseUrl: string | undefined;
  readonly onFailure: OnFailure;
}

/** The operations over HTTP. Hooks run in this order: journal, faults, key, rate limit, version, path and method. */
export function createApp(parts: AppParts): FastifyInstance {
  const app = createJsonApp({
    name: 'server',
    readBody: readJson,
    answerError: (error, reply, unforeseen) => answerError(error, reply, unforeseen, parts),
  });
  if (parts.journal !== undefined) keepJournal(app, parts.journal, parts.clock);
  injectFaults(app, parts);
  const read = requestReader(guard(app, parts), parts.baseUrl);
  app.get('/openapi.json', { config: { access: 'open' } }, async () => openApi(parts.operations, parts.baseUrl));
  if (parts.journal !== undefined) controlRoutes(app, parts.faults, parts.journal);
  serve(app, parts.operations.map(withPath), { read, methods, refuse });
  const config = { access: 'unmetered' satisfies Access };
  serve(app, parts.agentRoutes.map(withPath), { read, methods, refuse, config });
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
