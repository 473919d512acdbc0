import { parse as parseYaml } from 'yaml';
import { badRequest, invalid, unsupportedMediaType } from './api-error.ts';
import { invalidValue } from './field-error.ts';
import { isMap, type JsonMap } from './json.ts';
import type { ApiObject } from './object.ts';
import { decodeProtobuf } from './protobuf.ts';
import { apiVersionOf, type ResourceType } from './resource-type.ts';

const accepted = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** The object in a request body. Throws 400, 415 or 422 in the real server's words. */
export function decodeObject(body: Buffer, contentType: string, type: ResourceType): ApiObject {
  const value = parseBody(body, contentType, type);
  if (!type.custom) return checkGvk({ apiVersion: apiVersionOf(type), kind: type.kind, ...value }, type);
  if (typeof value.kind !== 'string' || value.kind === '')
    throw unrecognized(type, `Object 'Kind' is missing in '${JSON.stringify(value)}' (${excerpt(body.toString())})`);
  return checkGvk(value, type);
}

const excerpt = (text: string) => (text.length > 30 ? `${text.slice(0, 30)} ...` : text);

/** The object if it is of this type; `apiVersion` and `kind` must be there. */
export function checkGvk(value: JsonMap, type: ResourceType): ApiObject {
  const wanted = apiVersionOf(type);
  if (value.apiVersion !== wanted) {
    throw badRequest(
      `the API version in the data (${String(value.apiVersion ?? '')}) does not match the expected API version (${wanted})`,
    );
  }
  if (value.kind !== type.kind) {
    const name = isMap(value.metadata) ? String(value.metadata.name ?? '') : '';
    const error = invalidValue('kind', value.kind, `must be ${type.kind}`);
    if (type.custom) throw invalid(type.group, String(value.kind), name, [error]);
    throw badRequest(`${String(value.kind)} in version "${type.version}" cannot be handled as a ${type.kind}`);
  }
  const metadata = value.metadata ?? {};
  if (!isMap(metadata))
    throw cannotHandle(type, `json: cannot unmarshal ${typeof metadata} into Go struct field .metadata`);
  return { ...value, apiVersion: wanted, kind: type.kind, metadata };
}

function parseBody(body: Buffer, contentType: string, type: ResourceType): JsonMap {
  const mediaType = contentType.split(';')[0]?.trim() ?? '';
  if (mediaType === 'application/vnd.kubernetes.protobuf' && !type.custom) return decodeProtobuf(body);
  if (mediaType !== '' && !accepted.slice(0, 2).includes(mediaType)) throw unsupportedMediaType(accepted);
  const value = parse(body.toString(), mediaType, type);
  if (!isMap(value)) throw unrecognized(type, "couldn't get version/kind; json parse error: not an object");
  return value;
}

function parse(body: string, mediaType: string, type: ResourceType): unknown {
  try {
    return mediaType === 'application/yaml' ? parseYaml(body) : JSON.parse(body);
  } catch (error) {
    throw unrecognized(type, `couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
}

const unrecognized = (type: ResourceType, why: string) =>
  badRequest(`the object provided is unrecognized (must be of type ${type.kind}): ${why}`);

export const cannotHandle = (type: ResourceType, why: string) =>
  badRequest(`${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`);
