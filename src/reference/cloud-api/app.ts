import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { controlRoutes } from './control.ts';
import { type Injection, injectFaults } from './faults/inject.ts';
import { type Access, type Guarded, guard } from './guard.ts';
import { answerError, type OnFailure, readJson } from './http.ts';
import { type Journal, keepJournal } from './journal.ts';
import { openApi } from './openapi.ts';
import type { Call, Method, Operation, Route } from './operation.ts';
import { ApiProblem } from './problem.ts';

const bodyLimitBytes = 1024 * 1024;
const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

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
  const app = Fastify({
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    frameworkErrors: (error, _, reply) => answerError(error, reply as FastifyReply, parts),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) =>
    readJson(body),
  );
  app.setErrorHandler((error, _, reply) => answerError(error, reply, parts));
  if (parts.journal !== undefined) keepJournal(app, parts.journal, parts.clock);
  injectFaults(app, parts);
  const callOf = callReader(guard(app, parts), parts.baseUrl);
  app.get('/openapi.json', { config: { access: 'open' } }, async () => openApi(parts.operations, parts.baseUrl));
  if (parts.journal !== undefined) controlRoutes(app, parts.faults, parts.journal);
  for (const operation of parts.operations) serve(app, operation, callOf, 'metered');
  for (const route of parts.agentRoutes) serve(app, route, callOf, 'unmetered');
  refuseOtherMethods(app, [...parts.operations, ...parts.agentRoutes]);
  return app;
}

type Read<T> = (request: FastifyRequest) => T;

function callReader(accountOf: Read<string>, baseUrl: string | undefined): Read<Call> {
  return (request) => ({
    account: accountOf(request),
    params: request.params as Record<string, string>,
    query: request.query as Record<string, unknown>,
    body: request.body,
    base: baseUrl ?? `http://${request.host}`,
  });
}

function serve(app: FastifyInstance, route: Route, callOf: Read<Call>, access: Access): void {
  app.route({
    method: route.method,
    url: routePath(route.path),
    config: { access },
    handler: async (request, reply) => {
      const answer = route.handle(callOf(request));
      return reply.code(route.status).send(route.status === 204 ? undefined : answer);
    },
  });
}

function refuseOtherMethods(app: FastifyInstance, routes: readonly Route[]): void {
  const byPath = Map.groupBy(routes, (route) => route.path);
  for (const [url, served] of byPath) {
    const allowed = served.map((route) => route.method);
    const refuse = async (request: FastifyRequest) => {
      const allow = allowed.join(', ');
      throw new ApiProblem('methodNotAllowed', `${request.method} is not allowed here; allowed: ${allow}`, { allow });
    };
    const others = ['HEAD', ...methods.filter((method) => !allowed.includes(method))];
    app.route({ method: others as Method[], url: routePath(url), onRequest: refuse, handler: refuse });
  }
}

/** Parameters are never empty: `/bot_users/` is no path. */
const routePath = (path: string): string => path.replace(/:\w+/g, '$&(^.+$)');
