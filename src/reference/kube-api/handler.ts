import { badRequest, methodNotAllowed, notSupportedHere } from './api-error.ts';
import type { Exchange } from './exchange.ts';
import { type HandlerContext, isTrue, type ObjectRequest, presentation, show } from './object-request.ts';
import { listPage } from './reads/list.ts';
import { checkReached, parseVersion } from './reads/list-options.ts';
import { parseWatch } from './reads/watch.ts';
import { streamWatch } from './reads/watch-stream.ts';
import type { Route } from './route.ts';
import type { ResourceType } from './types/resource-type.ts';
import { scale } from './writes/scale.ts';
import { create, deleteCollection, patch, remove, replace } from './writes/writes.ts';

/** Answers a request for a resource: the verbs of the Kubernetes API on one type. */
export async function handleResource(
  exchange: Exchange,
  { namespace, name, subresource }: Route,
  type: ResourceType,
  context: HandlerContext,
): Promise<void> {
  // `finalize` of namespaces is written like the main endpoint.
  const written = subresource === 'status' || subresource === 'scale' ? subresource : undefined;
  if (type.warning !== undefined) exchange.warn(type.warning);
  const request: ObjectRequest = { exchange, type, namespace, subresource: written, context };
  return name === undefined ? handleCollection(request) : handleObject(request, name);
}

async function handleCollection(request: ObjectRequest): Promise<void> {
  const { method, query } = request.exchange;
  if (method === 'GET') return isTrue(query.get('watch')) ? watch(request) : list(request);
  if (method === 'POST') return create(request);
  if (method === 'DELETE') return deleteCollection(request);
  if (request.type.custom && (method === 'PUT' || method === 'PATCH')) throw badRequest('name must be provided');
  throw methodNotAllowed();
}

async function handleObject(request: ObjectRequest, name: string): Promise<void> {
  const { exchange, namespace, type, context } = request;
  const ref = { namespace, name };
  const scalable = request.subresource === 'scale' && ['GET', 'PUT', 'PATCH'].includes(exchange.method);
  if (scalable && type.scale !== undefined) return scale(request, type.scale, ref);
  if (exchange.method === 'GET') {
    checkReached(parseVersion(exchange.query, 'get'), context.store.revision);
    return show(request, 200, context.objects.get(type, ref));
  }
  if (exchange.method === 'PUT') return replace(request, ref);
  if (exchange.method === 'PATCH') return patch(request, ref);
  if (exchange.method === 'DELETE' && request.subresource === undefined) return remove(request, ref);
  if (type.custom && exchange.method === 'DELETE') throw notSupportedHere(type, 'delete');
  if (type.custom && exchange.method === 'POST') throw notSupportedHere(type, 'create');
  throw methodNotAllowed();
}

function list(request: ObjectRequest): void {
  const page = listPage(request.context.store, request.type, request.namespace, request.exchange.query);
  request.exchange.send(200, presentation(request).list(page));
}

function watch(request: ObjectRequest): void {
  const wanted = parseWatch(request.exchange.query, request.type, request.namespace);
  streamWatch(request.exchange, wanted, presentation(request), request.context);
}
