import type { Clock } from '../../clock.ts';
import type { Subresource } from './admission.ts';
import { ApiError, badRequest, invalid, methodNotAllowed } from './api-error.ts';
import { crdType } from './builtin/crd-type.ts';
import { checkCrd } from './crd-types.ts';
import { cannotHandle, checkGvk, decodeObject } from './decode.ts';
import type { Exchange } from './exchange.ts';
import { notSupported, required } from './field-error.ts';
import { isMap, mapOf } from './json.ts';
import { listPage } from './list.ts';
import { type ApiObject, withMeta } from './object.ts';
import type { Objects, Preconditions, Ref, WriteOptions } from './objects.ts';
import { applyConfiguration, createdByApply, decodeApply } from './ownership/apply.ts';
import { applyPatchTypes, decodePatch } from './patch.ts';
import { presentationOf } from './presentation.ts';
import type { ResourceType } from './resource-type.ts';
import type { Route } from './route.ts';
import type { Store } from './store.ts';
import { parseWatch } from './watch.ts';
import { streamWatch } from './watch-stream.ts';

export interface HandlerContext {
  readonly store: Store;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly bookmarkMs: number;
}

/** Answers a request for a resource: the verbs of the Kubernetes API on one type. */
export async function handleResource(
  exchange: Exchange,
  route: Route,
  type: ResourceType,
  context: HandlerContext,
): Promise<void> {
  const { method, query } = exchange;
  if (route.name === undefined) {
    if (method === 'GET' && isTrue(query.get('watch'))) return watch(exchange, route, type, context);
    if (method === 'GET') return list(exchange, route, type, context);
    if (method === 'POST') return create(exchange, route, type, context);
    if (method === 'DELETE') return deleteCollection(exchange, route, type, context);
    if (method === 'PUT' || method === 'PATCH') throw badRequest('name must be provided');
    throw methodNotAllowed(method);
  }
  const ref = { namespace: route.namespace, name: route.name };
  const subresource = subresourceOf(route);
  if (method === 'GET') return show(exchange, 200, context.objects.get(type, ref), type, context);
  if (method === 'PUT') return replace(exchange, ref, subresource, type, context);
  if (method === 'PATCH') return patch(exchange, ref, subresource, type, context);
  if (method === 'DELETE' && subresource === undefined) return remove(exchange, ref, type, context);
  throw methodNotAllowed(method);
}

const isTrue = (text: string | null) => text === 'true' || text === '1';

/** `finalize` of namespaces is written like the main endpoint. */
const subresourceOf = (route: Route): Subresource => (route.subresource === 'status' ? 'status' : undefined);

function presentation(exchange: Exchange, type: ResourceType, { clock }: HandlerContext) {
  return presentationOf(exchange.header('accept'), exchange.query, type, () => clock.now());
}

function show(exchange: Exchange, code: number, object: ApiObject, type: ResourceType, context: HandlerContext): void {
  exchange.json(code, presentation(exchange, type, context).object(object));
}

function list(exchange: Exchange, route: Route, type: ResourceType, context: HandlerContext): void {
  const page = listPage(context.store, type, route.namespace, exchange.query);
  exchange.json(200, presentation(exchange, type, context).list(page));
}

function watch(exchange: Exchange, route: Route, type: ResourceType, context: HandlerContext): void {
  const request = parseWatch(exchange.query, type, route.namespace);
  streamWatch(exchange, request, presentation(exchange, type, context), context);
}

async function create(exchange: Exchange, route: Route, type: ResourceType, context: HandlerContext): Promise<void> {
  const options = writeOptions(exchange, type, 'CreateOptions');
  const body = decodeObject(await exchange.body(), exchange.header('content-type'), type);
  const placed = inNamespace(body, route.namespace, type);
  if (type === crdType) checkCrd(placed);
  show(exchange, 201, context.objects.create(type, placed, options), type, context);
}

function inNamespace(object: ApiObject, namespace: string | undefined, type: ResourceType): ApiObject {
  if (!type.namespaced) return object;
  const given = object.metadata.namespace;
  if (given && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return withMeta(object, namespace === undefined ? {} : { namespace });
}

function checkName(object: ApiObject, name: string): void {
  const given = object.metadata.name;
  if (given === name) return;
  if (!given)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

async function replace(
  exchange: Exchange,
  ref: Ref,
  subresource: Subresource,
  type: ResourceType,
  context: HandlerContext,
) {
  const options = writeOptions(exchange, type, 'UpdateOptions');
  const decoded = decodeObject(await exchange.body(), exchange.header('content-type'), type);
  const body = inNamespace(decoded, ref.namespace, type);
  checkName(body, ref.name);
  context.objects.get(type, ref);
  if (!body.metadata.resourceVersion && type.behaviour.unconditionalUpdate !== true) {
    const message = 'Invalid value: 0: must be specified for an update';
    throw invalid(type.group, type.plural, ref.name, [
      { reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' },
    ]);
  }
  const updated = context.objects.update(type, ref, { ...options, subresource, change: () => body });
  show(exchange, 200, updated, type, context);
}

async function patch(
  exchange: Exchange,
  ref: Ref,
  subresource: Subresource,
  type: ResourceType,
  context: HandlerContext,
) {
  const mediaType = exchange.header('content-type').split(';')[0]?.trim() ?? '';
  if (applyPatchTypes.includes(mediaType)) return apply(exchange, ref, subresource, type, context);
  const options = writeOptions(exchange, type, 'PatchOptions');
  const change = decodePatch(await exchange.text(), mediaType, type);
  const updated = context.objects.update(type, ref, {
    ...options,
    subresource,
    change: (current) => {
      const wanted = checkGvk(change(current), type);
      checkName(wanted, ref.name);
      return wanted;
    },
  });
  show(exchange, 200, updated, type, context);
}

async function apply(
  exchange: Exchange,
  ref: Ref,
  subresource: Subresource,
  type: ResourceType,
  context: HandlerContext,
) {
  const options = writeOptions(exchange, type, 'PatchOptions');
  const manager = exchange.query.get('fieldManager') ?? '';
  if (manager === '') {
    throw invalid('meta.k8s.io', 'PatchOptions', '', [required('fieldManager', 'is required for apply patch')]);
  }
  const decoded = decodeApply(await exchange.text(), type);
  const configuration = inNamespace(decoded, ref.namespace, type);
  checkName(configuration, ref.name);
  const force = isTrue(exchange.query.get('force'));
  const request = { configuration, type, subresource, manager, force, now: context.clock.now() };
  if (context.objects.find(type, ref) === undefined && subresource === undefined) {
    if (type === crdType) checkCrd(configuration);
    const created = context.objects.create(type, createdByApply(request), { ...options, managed: true });
    return show(exchange, 201, created, type, context);
  }
  const change = (current: ApiObject) => applyConfiguration(current, request);
  const updated = context.objects.update(type, ref, { ...options, subresource, change, ownsManagedFields: true });
  show(exchange, 200, updated, type, context);
}

async function remove(exchange: Exchange, ref: Ref, type: ResourceType, context: HandlerContext): Promise<void> {
  const options = await deleteOptions(exchange);
  const { gone, object } = context.objects.delete(type, ref, options.preconditions, options.dryRun);
  if (!gone || returnsDeleted(type)) return show(exchange, 200, object, type, context);
  const { name, uid } = object.metadata;
  const details = { name, ...(type.group === '' ? {} : { group: type.group }), kind: type.plural, uid };
  exchange.json(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

/** Types whose deletion answers with the object, not with a Status. */
const returnsDeleted = (type: ResourceType) => type.group === '' && type.plural === 'serviceaccounts';

async function deleteCollection(exchange: Exchange, route: Route, type: ResourceType, context: HandlerContext) {
  const { dryRun } = await deleteOptions(exchange);
  const page = listPage(context.store, type, route.namespace, exchange.query);
  const items = page.items.map(({ metadata }) => {
    const ref = { namespace: metadata.namespace, name: metadata.name ?? '' };
    return context.objects.delete(type, ref, {}, dryRun).object;
  });
  exchange.json(200, presentation(exchange, type, context).list({ ...page, items }));
}

async function deleteOptions(exchange: Exchange): Promise<{ preconditions: Preconditions; dryRun: boolean }> {
  const text = await exchange.text();
  const body = text === '' ? {} : parseJson(text);
  const dryRun = exchange.query.get('dryRun') === 'All' || (Array.isArray(body.dryRun) && body.dryRun.includes('All'));
  return { preconditions: mapOf(body.preconditions), dryRun };
}

function parseJson(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    if (isMap(value)) return value;
  } catch {
    // Refused below.
  }
  throw badRequest('the body of the request is no DeleteOptions');
}

function writeOptions(exchange: Exchange, type: ResourceType, kind: string): WriteOptions {
  const { query } = exchange;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const validation = query.get('fieldValidation') || 'Warn';
  const errors = [
    ...(dryRun.every((value) => value === 'All') ? [] : [notSupported('dryRun', dryRun, ['All'])]),
    ...(['Strict', 'Warn', 'Ignore'].includes(validation)
      ? []
      : [notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn'])]),
  ];
  if (errors.length > 0) throw invalid('meta.k8s.io', kind, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: query.get('fieldManager') || exchange.header('user-agent').split('/')[0] || 'unknown',
    onUnknown: (paths) => reportUnknown(paths, validation, exchange, type, kind),
  };
}

function reportUnknown(
  paths: readonly string[],
  validation: string,
  exchange: Exchange,
  type: ResourceType,
  kind: string,
) {
  const texts = paths.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (validation === 'Warn') for (const text of texts) exchange.warn(text);
  if (validation !== 'Strict') return;
  const problem = `strict decoding error: ${texts.join(', ')}`;
  if (kind !== 'PatchOptions') throw cannotHandle(type, problem);
  const error = { reason: 'FieldValueInvalid', message: `Invalid value: "": ${problem}`, field: 'patch' };
  throw new ApiError(422, 'Invalid', ` "" is invalid: patch: ${error.message}`, { causes: [error] });
}
