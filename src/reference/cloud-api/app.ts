import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { Accounts } from './accounts.ts';
import { controlRoutes } from './control.ts';
import { isControl } from './control-path.ts';
import type { Faults } from './faults/faults.ts';
import { injectFaults } from './faults/inject.ts';
import { authenticate, checkVersion } from './guard.ts';
import { answerError, type OnFailure, readJson } from './http.ts';
import type { NewId } from './ids.ts';
import type { Journal } from './journal.ts';
import { keepJournal } from './keep-journal.ts';
import type { Method, Operation } from './operation.ts';
import { ApiProblem } from './problem.ts';
import type { RateLimit } from './rate-limit.ts';

const bodyLimitBytes = 1024 * 1024;
const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export interface AppParts {
  readonly operations: readonly Operation[];
  readonly accounts: Accounts;
  readonly rateLimit: RateLimit;
  readonly faults: Faults;
  /** With it, requests are recorded and test control is served. */
  readonly journal: Journal | undefined;
  /** Base URL of `uri` values; else that of the request's Host header. */
  readonly baseUrl: string | undefined;
  readonly clock: Clock;
  readonly newId: NewId;
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
  const accountOf = guard(app, parts);
  if (parts.journal !== undefined) controlRoutes(app, parts.faults, parts.journal);
  for (const operation of parts.operations) serve(app, operation, parts, accountOf);
  refuseOtherMethods(app, parts.operations);
  return app;
}

type AccountOf = (request: FastifyRequest) => string;

function guard(app: FastifyInstance, { accounts, rateLimit, clock }: AppParts): AccountOf {
  const callers = new WeakMap<FastifyRequest, string>();
  app.addHook('onRequest', async (request) => {
    if (isControl(request)) return;
    const account = authenticate(request.headers, accounts);
    callers.set(request, account);
    limit(rateLimit, account, clock.now());
    checkVersion(request.headers);
    if (request.is404) throw new ApiProblem('pathUnknown', 'no such path');
  });
  app.setNotFoundHandler(async () => {
    throw new ApiProblem('pathUnknown', 'no such path');
  });
  return (request) => callers.get(request) ?? '';
}

function limit(rateLimit: RateLimit, account: string, now: number): void {
  const refusal = rateLimit.take(account, now);
  if (refusal === undefined) return;
  const seconds = String(refusal.retryAfterSeconds);
  throw new ApiProblem('rateLimited', `too many requests; try again in ${seconds} s`, { 'retry-after': seconds });
}

function serve(app: FastifyInstance, operation: Operation, parts: AppParts, accountOf: AccountOf): void {
  app.route({
    method: operation.method,
    url: routePath(operation.path),
    handler: async (request, reply) => {
      const answer = operation.handle({
        account: accountOf(request),
        params: request.params as Record<string, string>,
        query: request.query as Record<string, unknown>,
        body: request.body,
        base: parts.baseUrl ?? `http://${request.host}`,
      });
      return reply.code(operation.status).send(operation.status === 204 ? undefined : answer);
    },
  });
}

function refuseOtherMethods(app: FastifyInstance, operations: readonly Operation[]): void {
  const byPath = Map.groupBy(operations, (operation) => operation.path);
  for (const [url, served] of byPath) {
    const allowed = served.map((operation) => operation.method);
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
