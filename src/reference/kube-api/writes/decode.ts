import { parse as parseYaml } from 'yaml';
import { badRequest, invalid, UndecodableError, unsupportedMediaType } from '../api-error.ts';
import { objectMeta } from '../builtin/schemas.ts';
import { invalidValue } from '../field-error.ts';
import { isMap, type JsonMap } from '../json.ts';
import { problemOf, shallow } from '../nesting.ts';
import type { ApiObject } from '../object.ts';
import { validate } from '../schema/validate.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';
import { decodeProtobuf } from './protobuf.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const text = ['application/json', 'application/yaml'];
const accepted = [...text, protobuf];

/** The object in a request body. Throws 400, 415 or 422 in the real server's words. */
export function decodeObject(body: Buffer, contentType: string, type: ResourceType): ApiObject {
  const mediaType = contentType.split(';')[0]?.trim() ?? '';
  const value = parseBody(body, mediaType, type.kind, type.custom ? text : accepted);
  if (!type.custom) return checkGvk({ apiVersion: apiVersionOf(type), kind: type.kind, ...value }, type);
  if (typeof value.kind !== 'string' || value.kind === '')
    throw unrecognized(
      type.kind,
      `Object 'Kind' is missing in '${JSON.stringify(value)}' (${excerpt(body.toString())})`,
    );
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
    throw new UndecodableError(
      `${String(value.kind)} in version "${type.version}" cannot be handled as a ${type.kind}`,
    );
  }
  const metadata = value.metadata ?? {};
  if (!isMap(metadata))
    throw cannotHandle(type, `json: cannot unmarshal ${typeof metadata} into Go struct field .metadata`);
  checkMetadataTypes(metadata, type);
  return { ...value, apiVersion: wanted, kind: type.kind, metadata };
}

function checkMetadataTypes(metadata: JsonMap, type: ResourceType): void {
  const given = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
  const [error] = validate(given, undefined, objectMeta, new Map());
  if (error !== undefined && error.reason === 'FieldValueTypeInvalid') {
    throw cannotHandle(type, `json: cannot unmarshal ObjectMeta.${error.field}: ${error.message}`);
  }
}

/** What a body of any accepted type holds; `kind` is what it should be. */
export function parseBody(body: Buffer, mediaType: string, kind: string, formats = accepted): JsonMap {
  if (mediaType !== '' && !formats.includes(mediaType)) throw unsupportedMediaType(formats);
  if (mediaType === protobuf) return decodeProtobuf(body);
  const value = parse(body.toString(), mediaType, kind);
  if (!isMap(value)) throw unrecognized(kind, "couldn't get version/kind; json parse error: not an object");
  return value;
}

function parse(body: string, mediaType: string, kind: string): unknown {
  try {
    return shallow(mediaType === 'application/yaml' ? parseYaml(body) : JSON.parse(body));
  } catch (error) {
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${problemOf(error)}`);
  }
}

const unrecognized = (kind: string, why: string) =>
  badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`);

export const cannotHandle = (type: ResourceType, why: string) =>
  new UndecodableError(`${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`);
