import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../common/clock.ts';
import { isFromHere } from '../../common/http-server/hosts.ts';
import type { Accounts } from './accounts.ts';
import { ApiProblem } from './problem.ts';
import type { RateLimit } from './rate-limit.ts';

/**
 * What a route is spared, as `config: { access }` of the framework: an `open` one everything (key, rate limit, version,
 * faults, journal), one of test `control` everything but the key, an `unmetered` one the rate limit.
 */
export type Access = 'open' | 'control' | 'metered' | 'unmetered';

const accessOf = (request: FastifyRequest): Access =>
  (request.routeOptions.config as { readonly access?: Access } | undefined)?.access ?? 'metered';

/** No request to the API: neither recorded nor struck by faults. */
export const isAside = (request: FastifyRequest): boolean => ['open', 'control'].includes(accessOf(request));

/** Without the query. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '/';

export interface Guarded {
  readonly accounts: Accounts;
  readonly rateLimit: RateLimit;
  /** For measuring. */
  readonly monotonic: Clock;
}

/** Lets in whoever may come in; the function it returns says as which account. */
export function guard(
  app: FastifyInstance,
  { accounts, rateLimit, monotonic }: Guarded,
): (request: FastifyRequest) => string {
  const callers = new WeakMap<FastifyRequest, string>();
  app.addHook('onRequest', async (request) => {
    if (accessOf(request) === 'open') return;
    if (accessOf(request) === 'control') return admitControl(request, accounts);
    const account = authenticate(request.headers, accounts);
    callers.set(request, account);
    if (accessOf(request) === 'metered') limit(rateLimit, account, monotonic.now());
    checkVersion(request.headers);
    if (request.is404) throw new ApiProblem('pathUnknown', 'no such path');
  });
  app.setNotFoundHandler(async () => {
    throw new ApiProblem('pathUnknown', 'no such path');
  });
  return (request) => callers.get(request) ?? '';
}

/** From this machine without a key. */
function admitControl({ headers, ip }: FastifyRequest, accounts: Accounts): void {
  if (!isFromHere(ip, headers.host)) authenticate(headers, accounts);
}

/**
 * The account that the request's key opens (Cloud Management API, section 5).
 *
 * @throws ApiProblem 401 without credentials, 403 with unknown ones.
 */
function authenticate(headers: IncomingHttpHeaders, accounts: Accounts): string {
  const challenge = { 'www-authenticate': 'Bearer' };
  const header = headers.authorization?.trim();
  if (!header) {
    throw new ApiProblem('credentialsMissing', 'header "Authorization: Bearer <API key>" is missing', challenge);
  }
  const key = /^Bearer +(\S+)$/i.exec(header)?.[1];
  if (key === undefined) {
    throw new ApiProblem('credentialsMalformed', 'header "Authorization" must be "Bearer <API key>"', challenge);
  }
  const account = accounts.accountOf(key);
  if (account === undefined) throw new ApiProblem('credentialsUnknown', 'the API key is unknown');
  return account;
}

function limit(rateLimit: RateLimit, account: string, now: number): void {
  const refusal = rateLimit.take(account, now);
  if (refusal === undefined) return;
  const seconds = String(refusal.retryAfterSeconds);
  throw new ApiProblem('rateLimited', `too many requests; try again in ${seconds} s`, { 'retry-after': seconds });
}

/** Cloud Management API, section 9. @throws ApiProblem 400 unless the header says 2. */
function checkVersion(headers: IncomingHttpHeaders): void {
  const version = headers['service-version'];
  if (version === undefined) throw new ApiProblem('versionMissing', 'header "Service-Version" is missing; send 2');
  if (version !== '2') throw new ApiProblem('versionUnknown', 'header "Service-Version" must be 2');
}
