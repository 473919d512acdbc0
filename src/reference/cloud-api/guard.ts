import type { IncomingHttpHeaders } from 'node:http';
import type { Accounts } from './accounts.ts';
import { ApiProblem } from './problem.ts';

/**
 * The account that the request's key opens (reference section 5).
 *
 * @throws ApiProblem 401 without credentials, 403 with unknown ones.
 */
export function authenticate(headers: IncomingHttpHeaders, accounts: Accounts): string {
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

/** Reference section 9. @throws ApiProblem 400 unless the header says 2. */
export function checkVersion(headers: IncomingHttpHeaders): void {
  const version = headers['service-version'];
  if (version === undefined) throw new ApiProblem('versionMissing', 'header "Service-Version" is missing; send 2');
  if (version !== '2') throw new ApiProblem('versionUnknown', 'header "Service-Version" must be 2');
}
