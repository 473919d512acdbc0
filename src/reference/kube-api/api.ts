import { ApiError, noSuchResource, notFound } from './api-error.ts';
import { discover } from './discovery/discovery.ts';
import { openApi } from './discovery/openapi.ts';
import { answerOpenApiV2 } from './discovery/openapi-v2.ts';
import type { Exchange } from './exchange.ts';
import { handleResource } from './handler.ts';
import type { HandlerContext } from './object-request.ts';
import { parseRoute } from './route.ts';
import type { Registry } from './types/registry.ts';
import type { ResourceType } from './types/resource-type.ts';

const healthPaths = ['/healthz', '/readyz', '/livez'];

export interface ApiContext extends HandlerContext {
  readonly registry: Registry;
  /** Requests must carry it as a bearer token. */
  readonly token: string;
}

/** Answers one request, whatever it is. */
export async function answer(exchange: Exchange, context: ApiContext): Promise<void> {
  try {
    await dispatch(exchange, context);
  } catch (error) {
    if (exchange.response.headersSent) return void exchange.response.destroy();
    exchange.fail(error instanceof ApiError ? error : internal(error));
  }
}

function internal(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`);
}

async function dispatch(exchange: Exchange, context: ApiContext): Promise<void> {
  if (healthPaths.some((path) => exchange.path === path || exchange.path.startsWith(`${path}/`))) {
    return exchange.plain(200, 'ok');
  }
  if (exchange.header('authorization') !== `Bearer ${context.token}`) {
    throw new ApiError(401, 'Unauthorized', 'Unauthorized');
  }
  const route = parseRoute(exchange.path);
  const type = route && context.registry.find(route.group, route.version, route.plural);
  if (route !== undefined && type !== undefined) {
    if (offers(type, route.subresource)) return handleResource(exchange, route, type, context);
    throw type.custom ? notFound(type, route.name ?? '') : noSuchResource();
  }
  if (answerOpenApiV2(exchange)) return;
  const document = discover(exchange, context.registry) ?? openApi(exchange, context.registry);
  if (document === undefined) {
    if (exchange.path.startsWith('/api/')) throw noSuchResource();
    return exchange.plain(404, '404 page not found\n');
  }
  exchange.json(200, document.body, document.contentType);
}

function offers(type: ResourceType, subresource: string | undefined): boolean {
  if (subresource === 'status') return type.hasStatus;
  if (subresource === 'scale') return type.scale !== undefined;
  return subresource === undefined || (subresource === 'finalize' && type.kind === 'Namespace');
}
