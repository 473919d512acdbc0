import { badRequest, invalid, invalidPatch, UndecodableError } from '../api-error.ts';
import { invalidValue, required } from '../field-error.ts';
import { isMap, type JsonMap, mapOf } from '../json.ts';
import { nestsDeeper, tooDeep } from '../nesting.ts';
import { type ApiObject, withMeta } from '../object.ts';
import { isTrue, type ObjectRequest, presentation, show } from '../object-request.ts';
import type { Ref } from '../objects/objects.ts';
import { checkSame } from '../objects/preconditions.ts';
import { applyConfiguration, createdByApply, decodeApply } from '../ownership/apply.ts';
import { listPage } from '../reads/list.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';
import { checkGvk, decodeObject } from './decode.ts';
import { applyPatchTypes, decodePatch } from './patch.ts';
import { deleteOptions, writeOptions } from './request-options.ts';

export async function create(request: ObjectRequest): Promise<void> {
  const { exchange, type, namespace, context } = request;
  const bytes = await exchange.body();
  const options = writeOptions(request, 'CreateOptions', bytes.toString());
  const body = decodeObject(bytes, exchange.header('content-type'), type);
  const placed = inNamespace(body, namespace, type);
  show(request, 201, context.objects.create(type, placed, options));
}

function inNamespace(object: ApiObject, namespace: string | undefined, type: ResourceType): ApiObject {
  if (!type.namespaced) return object;
  const given = object.metadata.namespace;
  if (given && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return withMeta(object, namespace === undefined ? {} : { namespace });
}

export function checkName(object: ApiObject, name: string): void {
  const given = object.metadata.name;
  if (given === name) return;
  if (!given)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

export async function replace(request: ObjectRequest, ref: Ref): Promise<void> {
  const { exchange, subresource, type, context } = request;
  const bytes = await exchange.body();
  const options = writeOptions(request, 'UpdateOptions', bytes.toString());
  const decoded = decodeObject(bytes, exchange.header('content-type'), type);
  const body = inNamespace(decoded, ref.namespace, type);
  checkName(body, ref.name);
  checkSame(type, body, context.objects.get(type, ref));
  checkVersion(body, type, ref);
  const updated = context.objects.update(type, ref, { ...options, subresource, change: () => body });
  show(request, 200, updated);
}

function checkVersion({ metadata }: ApiObject, type: ResourceType, { name }: Ref): void {
  if (metadata.resourceVersion || type.behaviour.unconditionalUpdate === true) return;
  const message = 'Invalid value: 0: must be specified for an update';
  const cause = { reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' };
  throw invalid(type.group, type.plural, name, [cause]);
}

export async function patch(request: ObjectRequest, ref: Ref): Promise<void> {
  const { exchange, subresource, type, context } = request;
  const { mediaType } = exchange;
  if (applyPatchTypes.includes(mediaType)) return apply(request, ref);
  const body = await exchange.text();
  const options = writeOptions(request, 'PatchOptions', body);
  const change = decodePatch(body, mediaType, type);
  const changed = (current: ApiObject) => {
    const wanted = inNamespace(patched(change(current), type), ref.namespace, type);
    checkName(wanted, ref.name);
    checkVersion(wanted, type, ref);
    return wanted;
  };
  try {
    show(request, 200, context.objects.update(type, ref, { ...options, subresource, change: changed }));
  } catch (error) {
    throw error instanceof UndecodableError ? invalidPatch(error.message) : error;
  }
}

function patched(value: unknown, type: ResourceType): ApiObject {
  if (!isMap(value)) throw invalidPatch("couldn't get version/kind; json parse error: not an object");
  if (nestsDeeper(value)) throw invalidPatch(tooDeep);
  if (!type.custom) return checkGvk(ofVersion({ ...value, ...defaultGvk(value, type) }, type), type);
  if (!value.kind) throw invalidPatch("Object 'Kind' is missing");
  return checkGvk(value.apiVersion ? ofVersion(value, type) : value, type);
}

/** Of a patch this is no 400. */
function ofVersion(value: JsonMap, type: ResourceType): JsonMap {
  const wanted = apiVersionOf(type);
  const { apiVersion, metadata } = value;
  if (apiVersion === wanted) return value;
  if (!type.custom || typeof apiVersion !== 'string') throw invalidPatch(`${String(apiVersion)} is not ${wanted}`);
  const name = String(mapOf(metadata).name ?? '');
  throw invalid('', type.kind, name, [invalidValue('apiVersion', apiVersion, `must be ${wanted}`)]);
}

const defaultGvk = ({ apiVersion, kind }: JsonMap, type: ResourceType) => ({
  apiVersion: apiVersion || apiVersionOf(type),
  kind: kind || type.kind,
});

async function apply(request: ObjectRequest, ref: Ref): Promise<void> {
  const { exchange, subresource, type, context } = request;
  const body = await exchange.text();
  const options = writeOptions(request, 'PatchOptions', body);
  const manager = exchange.query.get('fieldManager') ?? '';
  if (manager === '') {
    throw invalid('meta.k8s.io', 'PatchOptions', '', [required('fieldManager', 'is required for apply patch')]);
  }
  const decoded = decodeApply(body, type);
  const configuration = inNamespace(decoded, ref.namespace, type);
  checkName(configuration, ref.name);
  const force = isTrue(exchange.query.get('force'));
  const wanted = { configuration, type, subresource, manager, force, now: context.clock.now() };
  if (context.objects.find(type, ref) === undefined && subresource === undefined) {
    const created = context.objects.create(type, createdByApply(wanted), { ...options, applied: true });
    return show(request, 201, created);
  }
  const change = (current: ApiObject) => applyConfiguration(current, wanted);
  const updated = context.objects.update(type, ref, { ...options, subresource, change, applied: true });
  show(request, 200, updated);
}

export async function remove(request: ObjectRequest, ref: Ref): Promise<void> {
  const { exchange, type, context } = request;
  const options = await deleteOptions(exchange);
  const { gone, object } = context.objects.delete(type, ref, options.preconditions, options.dryRun);
  if (!gone || returnsDeleted(type)) return show(request, 200, object);
  const { name, uid } = object.metadata;
  const details = { name, ...(type.group === '' ? {} : { group: type.group }), kind: type.plural, uid };
  exchange.json(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

/** Types whose deletion answers with the object, not with a Status. */
const returnsDeleted = (type: ResourceType) => type.group === '' && type.plural === 'serviceaccounts';

export async function deleteCollection(request: ObjectRequest): Promise<void> {
  const { exchange, type, namespace, context } = request;
  const { preconditions, dryRun } = await deleteOptions(exchange);
  const page = listPage(context.store, type, namespace, exchange.query);
  for (const { object } of page.items) {
    const { namespace: holder, name = '' } = object.metadata;
    context.objects.delete(type, { namespace: holder, name }, preconditions, dryRun);
  }
  exchange.send(200, presentation(request).list(page));
}
