import { ApiError, badRequest, invalid, invalidPatch } from '../api-error.ts';
import { invalidValue } from '../field-error.ts';
import { isMap, type JsonMap, mapOf } from '../json.ts';
import { type ApiObject, withMeta } from '../object.ts';
import type { ObjectRequest } from '../object-request.ts';
import type { Ref } from '../objects/objects.ts';
import type { ScalePaths } from '../types/resource-type.ts';
import { parseBody } from './decode.ts';
import { decodePatch } from './patch.ts';
import { writeOptions } from './request-options.ts';
import { checkName } from './writes.ts';

/** The `scale` endpoint of an object: how many replicas are wanted and there, whatever fields of the object say so. */
export async function scale(request: ObjectRequest, paths: ScalePaths, ref: Ref): Promise<void> {
  const { exchange, type, context } = request;
  if (exchange.method === 'GET') return exchange.json(200, shown(context.objects.get(type, ref), paths));
  const isPatch = exchange.method === 'PATCH';
  const bytes = await exchange.body();
  const options = writeOptions(request, isPatch ? 'PatchOptions' : 'UpdateOptions', bytes.toString());
  const wanted = isPatch
    ? patchOf(bytes.toString(), request, paths)
    : () => parseBody(bytes, exchange.mediaType, 'Scale');
  const change = (current: ApiObject) =>
    scaled(current, wanted(current), paths, ref, isPatch ? invalidPatch : badRequest);
  const updated = context.objects.update(type, ref, { ...options, subresource: 'scale', change });
  exchange.json(200, scaleOf(updated, paths));
}

function patchOf(body: string, { exchange, type }: ObjectRequest, paths: ScalePaths) {
  const change = decodePatch(body, exchange.mediaType, type);
  return (current: ApiObject): unknown => change(scaleOf(current, paths));
}

function shown(object: ApiObject, paths: ScalePaths): JsonMap {
  if (valueAt(object, paths.specReplicasPath) !== undefined) return scaleOf(object, paths);
  const message = `the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`;
  throw new ApiError(500, 'InternalError', `Internal error occurred: ${message}`);
}

function scaleOf(object: ApiObject, paths: ScalePaths): JsonMap {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, paths.specReplicasPath);
  const selector = paths.labelSelectorPath === undefined ? undefined : valueAt(object, paths.labelSelectorPath);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: valueAt(object, paths.statusReplicasPath) ?? 0, ...(selector ? { selector } : {}) },
  };
}

/** The object with the replicas of a Scale, whose version and uid are preconditions. */
function scaled(
  current: ApiObject,
  given: unknown,
  { specReplicasPath: path, statusReplicasPath }: ScalePaths,
  ref: Ref,
  refuse: (why: string) => ApiError,
): ApiObject {
  const { apiVersion = 'autoscaling/v1', kind = 'Scale', metadata, spec } = mapOf(given);
  if (!isMap(given) || apiVersion !== 'autoscaling/v1' || kind !== 'Scale')
    throw refuse(`${String(kind)} in ${String(apiVersion)} is no Scale`);
  const { name, uid, resourceVersion } = mapOf(metadata) as ApiObject['metadata'];
  checkName({ apiVersion, kind, metadata: name === undefined ? {} : { name } }, ref.name);
  const replicas = mapOf(spec).replicas ?? 0;
  if (!Number.isInteger(replicas))
    throw refuse(`json: cannot unmarshal ScaleSpec.spec.replicas of type ${typeof replicas}`);
  const counts = [[path, replicas] as const, [statusReplicasPath, valueAt(current, statusReplicasPath)] as const];
  const errors = counts.filter(([, count]) => Number(count ?? 0) < 0);
  if (errors.length > 0) {
    const [group = ''] = String(current.apiVersion).split('/');
    const causes = errors.map(([field, count]) => invalidValue(field, count, 'should be a non-negative integer'));
    throw invalid(group, current.kind, ref.name, causes);
  }
  const wanted = setAt(current, path.split('.').slice(1), replicas) as ApiObject;
  return withMeta(wanted, { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) });
}

/** At a path such as `.spec.replicas`. */
function valueAt(object: ApiObject, path: string): unknown {
  return path
    .split('.')
    .slice(1)
    .reduce<unknown>((holder, name) => mapOf(holder)[name], object);
}

function setAt(holder: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  return name === undefined ? value : { ...mapOf(holder), [name]: setAt(mapOf(holder)[name], rest, value) };
}
