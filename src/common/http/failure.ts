import { forbiddenAddress } from './address.ts';
import { ApiError } from './errors.ts';
import { closedWay } from './proxy.ts';
import type { Service } from './service.ts';

const untrusted = 'is not trusted: is its authority in what NODE_EXTRA_CA_CERTS names?';

/** Why a certificate is not taken, by the code of that; known before anything is sent. */
const certificates: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet: are the clocks right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is not for this host name: check the address',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};

/**
 * Nothing of the request can have arrived. No other code of TLS says so: a server of TLS 1.3 may refuse the client after that has
 * sent, and a record can be damaged at any time.
 */
const beforeSending = new Set([
  'UND_ERR_CLOSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_PRX_TLS',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  ...Object.keys(certificates),
  forbiddenAddress,
  closedWay,
]);

const theProxy = 'the proxy that the environment names';

/** They stay the same from one attempt to the next. */
const words: Readonly<Record<string, string>> = {
  UND_ERR_CLOSED: 'the client is closed',
  UND_ERR_DESTROYED: 'the client is closed',
  UND_ERR_CONNECT_TIMEOUT: 'connecting timed out',
  UND_ERR_PRX_TLS: `the certificate of ${theProxy} is not taken`,
  UND_ERR_HEADERS_TIMEOUT: 'timed out waiting for the answer',
  UND_ERR_BODY_TIMEOUT: 'timed out reading the answer',
  UND_ERR_SOCKET: 'the connection broke',
  ECONNRESET: 'the connection was reset',
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be resolved now',
  [forbiddenAddress]: 'the host name leads to an address that no request may go to',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS is spoken there: is it http://?',
  HTTPParserError: 'what answers there does not speak HTTP: check the address',
  TimeoutError: 'timed out',
  AbortError: 'aborted',
};

/** The request failed on its way; definite only where nothing of it can have arrived. */
export function failed(
  { unanswered = '' }: Pick<Service, 'unanswered'>,
  operation: string | undefined,
  cause: unknown,
): ApiError {
  const code = codeOf(cause);
  const proxyStatus = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(text(cause, 'message'))?.[1];
  const ofProxy = code === closedWay ? `${theProxy}: ${wordsOf((cause as Error).cause)}` : undefined;
  const why = (proxyStatus && `${theProxy} answered ${proxyStatus}`) ?? ofProxy ?? wordsOf(cause);
  const definite = beforeSending.has(code) || proxyStatus !== undefined || isConnectCall(cause);
  return new ApiError(unanswered + why, { operation, reason: 'Unreachable', definite, cause });
}

function wordsOf(cause: unknown): string {
  const code = codeOf(cause);
  const named = code === 'ENOTFOUND' ? unknownName(text(cause, 'hostname')) : undefined;
  const known = named ?? ofCertificate(code) ?? words[code];
  return known ?? (code === '' ? 'the request failed' : `the request failed (${code})`);
}

function ofCertificate(code: string): string | undefined {
  const why = certificates[code];
  return why === undefined ? undefined : `the certificate ${why} (${code})`;
}

/** Names come from specs and flags: what can be in a name is shown. */
function unknownName(hostname: string): string | undefined {
  return /^[\w.-]{1,253}$/.test(hostname) ? `the host name ${hostname} is not known` : undefined;
}

/** The request was not sent: the caller gave up or forbade it. */
export function notSent(operation: string | undefined, cause: unknown): ApiError {
  const why = cause instanceof Error ? cause.message : '';
  const message = `not sent: ${why || 'the call was given up'}`;
  return new ApiError(message, { operation, reason: 'Unreachable', definite: true, cause });
}

/** The system's or undici's code, else the error's name. */
function codeOf(cause: unknown): string {
  const code = text(cause, 'code');
  if (code !== '' && code !== 'ABORT_ERR') return code;
  const name = text(cause, 'name');
  return name === 'Error' ? '' : name;
}

function isConnectCall(cause: unknown): boolean {
  return ['connect', 'getaddrinfo'].includes(text(cause, 'syscall'));
}

/** A property of whatever was thrown: it need not be an Error. */
function text(cause: unknown, name: string): string {
  const value: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, name) : undefined;
  return typeof value === 'string' ? value : '';
}
