import { badRequest, methodNotAllowed, notSupportedHere } from './api-error.ts';
import { type Call, type HandlerContext, isTrue, presentation, show } from './call.ts';
import type { Exchange } from './exchange.ts';
import { listPage } from './list.ts';
import { checkReached, parseVersion } from './list-options.ts';
import type { ResourceType } from './resource-type.ts';
import type { Route } from './route.ts';
import { parseWatch } from './watch.ts';
import { streamWatch } from './watch-stream.ts';
import { create, deleteCollection, patch, remove, replace } from './writes.ts';

/** Answers a request for a resource: the verbs of the Kubernetes API on one type. */
export async function handleResource(
  exchange: Exchange,
  { namespace, name, subresource }: Route,
  type: ResourceType,
  context: HandlerContext,
): Promise<void> {
  // `finalize` of namespaces is written like the main endpoint.
  const written = subresource === 'status' ? 'status' : undefined;
  if (type.warning !== undefined) exchange.warn(type.warning);
  const call: Call = { exchange, type, namespace, subresource: written, context };
  return name === undefined ? handleCollection(call) : handleObject(call, name);
}

async function handleCollection(call: Call): Promise<void> {
  const { method, query } = call.exchange;
  if (method === 'GET') return isTrue(query.get('watch')) ? watch(call) : list(call);
  if (method === 'POST') return create(call);
  if (method === 'DELETE') return deleteCollection(call);
  if (call.type.custom && (method === 'PUT' || method === 'PATCH')) throw badRequest('name must be provided');
  throw methodNotAllowed();
}

async function handleObject(call: Call, name: string): Promise<void> {
  const { exchange, namespace, type, context } = call;
  const ref = { namespace, name };
  if (exchange.method === 'GET') {
    checkReached(parseVersion(exchange.query, 'get'), context.store.revision);
    return show(call, 200, context.objects.get(type, ref));
  }
  if (exchange.method === 'PUT') return replace(call, ref);
  if (exchange.method === 'PATCH') return patch(call, ref);
  if (exchange.method === 'DELETE' && call.subresource === undefined) return remove(call, ref);
  if (type.custom && exchange.method === 'DELETE') throw notSupportedHere(type, 'delete');
  if (type.custom && exchange.method === 'POST') throw notSupportedHere(type, 'create');
  throw methodNotAllowed();
}

function list(call: Call): void {
  const page = listPage(call.context.store, call.type, call.namespace, call.exchange.query);
  call.exchange.send(200, presentation(call).list(page));
}

function watch(call: Call): void {
  const request = parseWatch(call.exchange.query, call.type, call.namespace);
  streamWatch(call.exchange, request, presentation(call), call.context);
}
