import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isAllowedHost } from '../../common/http-server/hosts.ts';
import { createJsonApp, serve } from '../../common/http-server/json-app.ts';
import type { ServerTimeouts } from '../../common/http-server/timeouts.ts';
import type { Log } from '../../common/log.ts';
import type { Descriptors } from '../descriptors/descriptors.ts';
import { guard } from '../descriptors/door.ts';
import { AgentProblem, errorBody } from '../problem.ts';
import { readJson, refusal } from './http.ts';
import type { ApiRequest, Route } from './routes.ts';

export interface AppParts {
  readonly routes: readonly Route[];
  /** Beside loopback; see isAllowedHost. */
  readonly allowHosts: readonly string[];
  readonly descriptors: Descriptors;
  readonly timeouts: ServerTimeouts;
  readonly log: Log;
}

/** Serves routes as JSON, to loopback Host headers only and without CORS, so that no web page of others can use it. */
export function createApp({ routes, allowHosts, descriptors, timeouts, log }: AppParts): FastifyInstance {
  const app = createJsonApp({
    name: 'agent',
    routerOptions: { ignoreTrailingSlash: true },
    timeouts,
    readBody: readJson,
    refusal: (error, unforeseen) => refusal(error, unforeseen, log),
  });
  const dismissAll = guard(app.server, {
    descriptors,
    admit: (client) => descriptors.admitToApi(client),
    refused: () => ({ contentType: 'application/json; charset=utf-8', body: shortageText(descriptors.shortage) }),
  });
  app.addHook('preClose', async () => dismissAll());
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (descriptors.isCrowded) reply.raw.shouldKeepAlive = false;
    if (!isAllowedHost(request.headers.host, allowHosts)) {
      throw new AgentProblem('hostRefused', 'the Host header must be loopback; web_allow_hosts allows others');
    }
    if (request.is404) throw new AgentProblem('pathUnknown', 'there is nothing at this path');
  });
  const refuse = (method: string, allow: string) =>
    new AgentProblem('methodNotAllowed', `${method} is not one of ${allow}`);
  serve(app, routes, { read, refuse });
  return app;
}

function shortageText(shortage: string): string {
  return JSON.stringify(
    errorBody(new AgentProblem('noDescriptors', `the agent can take no further connection: ${shortage}`)),
  );
}

function read({ method, params, query, body }: FastifyRequest): ApiRequest {
  if (method === 'POST' && body === undefined) {
    throw new AgentProblem('bodyTypeWrong', 'a JSON body with "Content-Type: application/json" is needed');
  }
  const [param = ''] = Object.values(params as Record<string, string>);
  return { param, query: query as Record<string, unknown>, body };
}
