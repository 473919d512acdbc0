import { expect, test } from '@jest/globals';
import { failed, notSent } from './failure.ts';

const coded = (code: string, more: object = {}) => Object.assign(new Error('x'), { code, ...more });

test.each([
  ['connecting took too long', coded('UND_ERR_CONNECT_TIMEOUT'), 'connecting timed out', true],
  ['nobody listens', coded('ECONNREFUSED'), 'the connection was refused', true],
  ['nobody listens on any address', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'refused', true],
  ['the name is unknown', coded('ENOTFOUND', { syscall: 'getaddrinfo' }), 'the host name is not known', true],
  [
    'the name is unknown, and told',
    coded('ENOTFOUND', { syscall: 'getaddrinfo', hostname: 'agent.team.svc' }),
    'the host name agent.team.svc is not known',
    true,
  ],
  ['the system gave up connecting', coded('ETIMEDOUT', { syscall: 'connect' }), 'failed (ETIMEDOUT)', true],
  [
    'the certificate is not trusted',
    coded('DEPTH_ZERO_SELF_SIGNED_CERT'),
    'the certificate is not trusted: is its authority in what NODE_EXTRA_CA_CERTS names? (DEPTH_ZERO_SELF_SIGNED_CERT)',
    true,
  ],
  ['the certificate is of later', coded('CERT_NOT_YET_VALID'), 'the certificate is not valid yet', true],
  ['the certificate is of before', coded('CERT_HAS_EXPIRED'), 'the certificate has expired', true],
  ['the name is another', coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'the certificate is not for this host name', true],
  ['http has the port', coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'no TLS is spoken there: is it http://?', false],
  ['the server refuses the client', coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'the request failed', false],
  ['SSH has the port', Object.assign(new Error('x'), { name: 'HTTPParserError' }), 'does not speak HTTP', false],
  ['the connection timed out later', coded('ETIMEDOUT', { syscall: 'read' }), 'failed (ETIMEDOUT)', false],
  ['reset', coded('ECONNRESET'), 'the connection was reset', false],
  ['no headers', coded('UND_ERR_HEADERS_TIMEOUT'), 'timed out waiting for the answer', false],
  ['the deadline', AbortSignal.abort(new DOMException('', 'TimeoutError')).reason, 'timed out', false],
  ['the caller gave up', new DOMException('', 'AbortError'), 'aborted', false],
  ['not even an Error', 'text', 'the request failed', false],
])('%s', (_, cause, message, definite) => {
  const error = failed({}, 'bot_users.create', cause);
  expect(error).toMatchObject({ operation: 'bot_users.create', reason: 'Unreachable', definite, cause });
  expect(error.message).toContain(message);
});

test('a service may say before why there was no answer', () => {
  const { message } = failed({ unanswered: 'cannot be reached: ' }, undefined, coded('ECONNRESET'));
  expect(message).toBe('cannot be reached: the connection was reset');
});

test('what was never sent is definite', () => {
  expect(notSent('o', new Error('no longer the leader')).message).toBe('o: not sent: no longer the leader');
  expect(notSent('o', undefined)).toMatchObject({ message: 'o: not sent: the call was given up', definite: true });
});
