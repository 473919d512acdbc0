import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Log } from '../../common/log.ts';
import { AgentProblem } from '../problem.ts';
import { isAllowedHost } from './hosts.ts';
import { answerError, readJson } from './http.ts';
import type { Route } from './routes.ts';

const bodyLimitBytes = 1024 * 1024;
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export interface AppParts {
  readonly routes: readonly Route[];
  /** Beside loopback; see isAllowedHost. */
  readonly allowHosts: readonly string[];
  readonly log: Log;
}

/** Serves routes as JSON, to loopback Host headers only and without CORS, so that no web page of others can use it. */
export function createApp({ routes, allowHosts, log }: AppParts): FastifyInstance {
  const answer = (error: unknown, reply: FastifyReply) => answerError(error, reply, log);
  const app = Fastify({
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Names are up to 256 characters, each up to 12 in a path.
    routerOptions: { maxParamLength: 4_096, ignoreTrailingSlash: true },
    frameworkErrors: (error, _, reply) => answer(error, reply as FastifyReply),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) =>
    readJson(body),
  );
  app.setErrorHandler((error, _, reply) => answer(error, reply));
  app.setNotFoundHandler(async () => {
    throw new AgentProblem('pathUnknown', 'there is nothing at this path');
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (isAllowedHost(request.headers.host, allowHosts)) return;
    throw new AgentProblem('hostRefused', 'the Host header must be loopback; web_allow_hosts allows others');
  });
  for (const route of routes) serve(app, route);
  refuseOtherMethods(app, routes);
  return app;
}

function serve(app: FastifyInstance, route: Route): void {
  app.route({
    method: route.method,
    url: route.path,
    handler: async (request, reply) => {
      if (route.method === 'POST' && request.body === undefined) {
        throw new AgentProblem('bodyTypeWrong', 'a JSON body with "Content-Type: application/json" is needed');
      }
      const [param = ''] = Object.values(request.params as Record<string, string>);
      const { query, body } = request;
      const result = await route.handle({ param, query: query as Record<string, unknown>, body });
      if (route.status === 204) return reply.code(204).send();
      return reply.code(route.status).type('application/json; charset=utf-8').send(result);
    },
  });
}

function refuseOtherMethods(app: FastifyInstance, routes: readonly Route[]): void {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  for (const [url, served] of byPath) {
    const allowed: readonly string[] = served.map(({ method }) => method);
    app.route({
      method: methods.filter((method) => !allowed.includes(method)),
      url,
      onRequest: async (request, reply) => {
        reply.header('allow', allowed.join(', '));
        throw new AgentProblem('methodNotAllowed', `${request.method} is not one of ${allowed.join(', ')}`);
      },
      handler: async () => undefined,
    });
  }
}
