import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawAnswer {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: unknown;
}

/** What a server answers to the text, which need not be HTTP, before it closes the connection. */
export async function rawRequest(url: string, request: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  return { status, type: /^content-type: (.+)$/im.exec(head)?.[1], body: body === '' ? undefined : JSON.parse(body) };
}

const open = 'GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';

/** With the status each is to get. */
export const unreadable: readonly (readonly [what: string, request: string, status: number])[] = [
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['a header without a name', `${open}: x\r\n\r\n`, 400],
  ['two lengths', `${open}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
  ['no Host', 'GET /api/status HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['an empty Host', 'GET /api/status HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', 400],
  ['a Host that is none', 'GET /api/status HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n', 400],
  ['two Hosts', `${open}Host: evil.test\r\n\r\n`, 400],
  ['a Host twice', `${open}hOST: localhost\r\n\r\n`, 400],
  ['headers of 17 KB', `${open}X-Long: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ['headers of 1 MB', `${open}X-Long: ${'x'.repeat(1_000_000)}\r\n\r\n`, 431],
  ['a path of 17 KB', `GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
];

/** The headers and body with which clients send a request that has no body, beside those without any of them. */
export const bodiless: readonly (readonly [client: string, text: string])[] = [
  ['that sends a type with every call, as those on urllib', 'Content-Type: application/json\r\n\r\n'],
  ['that sends a length, too, as those on requests', 'Content-Type: application/json\r\nContent-Length: 0\r\n\r\n'],
  ['that sends its type of text', 'Content-Type: application/json; charset=utf-8\r\nContent-Length: 0\r\n\r\n'],
  ['that sends a length', 'Content-Length: 0\r\n\r\n'],
  ['that sends an empty form', 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n\r\n'],
  ['that sends an empty type', 'Content-Type:\r\n\r\n'],
  ['that sends a type that is none', 'Content-Type: json\r\nContent-Length: 0\r\n\r\n'],
  ['that sends what it accepts as the type', 'Content-Type: application/json, text/plain\r\n\r\n'],
  ['that streams under a type that is none', 'Content-Type: json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['that streams', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['that streams without a type', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
];
