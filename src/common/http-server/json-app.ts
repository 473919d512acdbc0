import { type IncomingMessage, maxHeaderSize } from 'node:http';
import type { Readable } from 'node:stream';
import Fastify, {
  errorCodes,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import { answerOn } from './answer-on.ts';
import { isHost } from './hosts.ts';
import { inTurn } from './in-turn.ts';
import { readOut } from './read-out.ts';
import { type Refusal, type Unforeseen, Unreadable, unforeseen } from './refusal.ts';
import { type ServerTimeouts, serverTimeouts } from './timeouts.ts';

/** All that Node's parser reads and the router takes, without CONNECT, which Node answers itself. */
const methods = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'SEARCH', 'PURGE', 'SOURCE'],
  ...['ACL', 'BIND', 'CHECKOUT', 'COPY', 'LINK', 'LOCK', 'M-SEARCH', 'MERGE', 'MKACTIVITY', 'MKCALENDAR', 'MKCOL'],
  ...['MOVE', 'NOTIFY', 'PROPFIND', 'PROPPATCH', 'REBIND', 'REPORT', 'SUBSCRIBE', 'UNBIND', 'UNLINK', 'UNLOCK'],
  'UNSUBSCRIBE',
];

export interface AppOptions {
  /** What messages call the server. */
  readonly name: string;
  readonly routerOptions?: NonNullable<FastifyServerOptions['routerOptions']>;
  readonly timeouts: ServerTimeouts;
  /** Parses a body that is said to be JSON. */
  readonly readBody: (body: Buffer) => unknown;
  /** The answer to the server's own errors, and to all others as `unforeseen`. */
  readonly refusal: (error: unknown, unforeseen: Unforeseen) => Refusal;
}

/** An app that takes bodies of JSON only, up to 1 MiB, and answers every error in the server's own shape. */
export function createJsonApp({ name, routerOptions = {}, timeouts, readBody, refusal }: AppOptions): FastifyInstance {
  const refusalOf = (error: unknown) => refusal(error, unforeseen(error, name));
  const answer = (error: unknown, reply: FastifyReply) => {
    const { status, headers = {}, body } = refusalOf(error);
    reply.code(status).headers(headers);
    keepOpen(reply);
    reply.send(body);
  };
  const app = Fastify({
    bodyLimit: 1024 * 1024,
    forceCloseConnections: true,
    // No path is longer than a head may be: what is unknown is so at any length.
    routerOptions: { maxParamLength: maxHeaderSize, ...routerOptions },
    frameworkErrors: (error, _, reply) => answer(error, reply as FastifyReply),
    ...serverTimeouts(timeouts),
    connectionTimeout: timeouts.quietMs,
    http: { requireHostHeader: false, ...serverTimeouts(timeouts) },
    clientErrorHandler: (error, socket) => answerOn(socket, error, () => refusalOf(new Unreadable(error.code))),
  });
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (hasNone(request) && body.length === 0) return undefined;
    if (isEncoded(request)) throw new Unreadable('encoded');
    return readBody(body);
  });
  app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) => {
    if (!hasNone(request) || !(await isEmpty(body))) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE();
  });
  app.addHook('preParsing', async (request) => {
    // The framework refuses what is no type before a parser could see that there is no body.
    if (hasNone(request) && !isJson(request.headers['content-type'])) delete request.headers['content-type'];
  });
  const wait = inTurn();
  app.addHook('onRequest', ({ raw }, reply, done) => wait(raw, reply.raw, done));
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (!isHost(headers.host) || namesHostAgain(raw)) throw new Unreadable('not one Host');
  });
  app.addHook('onSend', ({ raw }, reply, _, done) => {
    if (endsUnread(reply)) void readOut(raw).then(() => done());
    else done();
  });
  // Node itself would answer 417 without a body, unseen by all hooks; it may be served as well (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Of connections that could not be accepted.
  app.server.on('error', () => {});
  // What the request itself has failed with is that its client broke it off.
  app.setErrorHandler((error, { raw }, reply) =>
    answer(error === raw.errored ? new Unreadable('aborted') : error, reply),
  );
  return app;
}

/** Whether the connection will be closed with data unread: it would be reset then, and the answer be lost. */
function endsUnread({ raw, request }: FastifyReply): boolean {
  return !raw.shouldKeepAlive && !request.raw.readableEnded && !request.raw.destroyed;
}

/** The framework closes a connection behind every body that was refused: instead the rest of that is read. */
function keepOpen(reply: FastifyReply): void {
  if (!reply.raw.shouldKeepAlive || !reply.hasHeader('connection')) return;
  reply.header('connection', 'keep-alive');
  reply.request.raw.resume();
}

/** RFC 9112, section 3.2. Node shows the first only, but what stands before this server may have gone by another. */
function namesHostAgain({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length > 1;
}

/** Leaves the rest of it, have no body: clients send the type of one all the same, with every call. */
const hasNone = ({ method }: FastifyRequest): boolean => method === 'DELETE';

const isEncoded = ({ headers }: FastifyRequest): boolean =>
  (headers['content-encoding'] || 'identity').toLowerCase() !== 'identity' ||
  (headers['transfer-encoding'] || 'chunked').toLowerCase() !== 'chunked';

const isJson = (type = ''): boolean => /^\s*application\/json\s*(;|$)/i.test(type);

/** Leaves the rest of it, as the connection is to live until it is answered. */
async function isEmpty(body: Readable): Promise<boolean> {
  for await (const chunk of body.iterator({ destroyOnReturn: false })) if (chunk.length > 0) return false;
  return true;
}

/** An operation on requests as its server reads them. */
export interface JsonRoute<Request> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for parameters. */
  readonly path: string;
  /** Of success; 204 has no body. */
  readonly status: 200 | 201 | 204;
  /** What it returns is sent as JSON; a stream is JSON already. */
  readonly handle: (request: Request) => unknown;
}

export interface Serving<Request> {
  readonly read: (request: FastifyRequest) => Request;
  /** Of a method that the path has no route for. */
  readonly refuse: (method: string, allow: string) => Error;
  /** What hooks are to know of these routes, but not where they refuse a method. */
  readonly config?: object;
}

/** Serves the routes as JSON, and HEAD where GET is (RFC 9110, section 9.1); on their paths refuses the other methods. */
export function serve<Request>(
  app: FastifyInstance,
  routes: readonly JsonRoute<Request>[],
  { read, refuse, config = {} }: Serving<Request>,
): void {
  for (const { method, path: url, status, handle } of routes) {
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const answer = await handle(read(request));
      if (status === 204) return reply.code(204).send();
      return reply.code(status).type('application/json; charset=utf-8').send(answer);
    };
    app.route({ method, url, config, handler });
  }
  for (const [url, served] of Map.groupBy(routes, ({ path }) => path)) {
    const allowed: readonly string[] = served.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const allow = allowed.join(', ');
    const handler = async ({ method }: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', allow);
      throw refuse(method, allow);
    };
    const others = methods.filter((method) => !allowed.includes(method));
    app.route({ method: others, url, onRequest: handler, handler });
  }
}
