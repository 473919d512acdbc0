import { maxHeaderSize } from 'node:http';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';

/** All that Node's parser reads and the router takes, without CONNECT, which Node answers itself. */
const methods = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'SEARCH', 'PURGE', 'SOURCE'],
  ...['ACL', 'BIND', 'CHECKOUT', 'COPY', 'LINK', 'LOCK', 'M-SEARCH', 'MERGE', 'MKACTIVITY', 'MKCALENDAR', 'MKCOL'],
  ...['MOVE', 'NOTIFY', 'PROPFIND', 'PROPPATCH', 'REBIND', 'REPORT', 'SUBSCRIBE', 'UNBIND', 'UNLINK', 'UNLOCK'],
  'UNSUBSCRIBE',
];

/** A refusal of the framework, or whatever else was thrown, in the words of a server. */
export interface Unforeseen {
  readonly cause: 'bodyTypeWrong' | 'bodyTooLarge' | 'requestMalformed' | 'internal';
  readonly message: string;
}

export interface AppOptions {
  /** What messages call the server. */
  readonly name: string;
  readonly routerOptions?: NonNullable<FastifyServerOptions['routerOptions']>;
  /** Parses a body that is said to be JSON. */
  readonly readBody: (body: Buffer) => unknown;
  /** Answers the server's own errors, and all others as `unforeseen`. */
  readonly answerError: (error: unknown, reply: FastifyReply, unforeseen: Unforeseen) => void;
}

/** An app that takes bodies of JSON only, up to 1 MiB, and answers every error in the server's own shape. */
export function createJsonApp({ name, routerOptions = {}, readBody, answerError }: AppOptions): FastifyInstance {
  const answer = (error: unknown, reply: FastifyReply) => answerError(error, reply, unforeseen(error, name));
  const app = Fastify({
    bodyLimit: 1024 * 1024,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // No path is longer than a head may be: what is unknown is so at any length.
    routerOptions: { maxParamLength: maxHeaderSize, ...routerOptions },
    frameworkErrors: (error, _, reply) => answer(error, reply as FastifyReply),
  });
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) =>
    readBody(body),
  );
  app.setErrorHandler((error, _, reply) => answer(error, reply));
  return app;
}

function unforeseen(error: unknown, name: string): Unforeseen {
  switch (typeof error === 'object' && error !== null && 'code' in error && error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { cause: 'bodyTypeWrong', message: 'header "Content-Type" must be application/json' };
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { cause: 'bodyTooLarge', message: 'the body must be at most 1 MiB' };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
      return { cause: 'requestMalformed', message: 'the path or length header is malformed' };
    default:
      return { cause: 'internal', message: `something went wrong in the ${name}` };
  }
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

/** Serves the routes as JSON, and on their paths refuses the other methods. */
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
    const allowed: readonly string[] = served.map(({ method }) => method);
    const allow = allowed.join(', ');
    const handler = async ({ method }: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', allow);
      throw refuse(method, allow);
    };
    const others = methods.filter((method) => !allowed.includes(method));
    app.route({ method: others, url, onRequest: handler, handler });
  }
}
