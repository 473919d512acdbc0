import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { ApiError, badRequest, unsupportedMediaType } from '../api-error.ts';
import { type JsonMap, mapOf } from '../json.ts';
import { type Message, type MessageField, messageNamed, messageOf, objectMessages } from './message-fields.ts';

const envelope = messageOf({
  1: 'typeMeta TypeMeta',
  2: 'raw bytes',
  3: 'contentEncoding? string',
  4: 'contentType? string',
});

const timeFields = messageOf({ 1: 'seconds int64', 2: 'nanos int32' });

/** Messages that are not an object of their fields in JSON: their fields, and what becomes of them. */
const special: Readonly<Record<string, readonly [fields: Message, json: (value: JsonMap) => unknown]>> = {
  Time: [timeFields, (time) => (isZero(time) ? null : `${seconds(time)}Z`)],
  MicroTime: [
    timeFields,
    (time) => (isZero(time) ? null : `${seconds(time)}.${`${Number(time.nanos ?? 0) + 1e9}`.slice(1, 7)}Z`),
  ],
  FieldsV1: [messageOf({ 1: 'raw bytes' }), ({ raw }) => JSON.parse(bytesOf(raw).toString())],
  IntOrString: [
    messageOf({ 1: 'type int64', 2: 'number int32', 3: 'text string' }),
    ({ type, number, text }) => (type === 1 ? text : (number ?? 0)),
  ],
  Quantity: [messageOf({ 1: 'text string' }), ({ text }) => text],
  TypeMeta: [messageOf({ 1: 'apiVersion string', 2: 'kind string' }), (typeMeta) => typeMeta],
};

const isZero = (time: JsonMap) => Object.keys(time).length === 0;
const seconds = (time: JsonMap) => new Date(Number(time.seconds ?? 0) * 1000).toISOString().slice(0, 19);
const bytesOf = (base64: unknown) => Buffer.from(String(base64 ?? ''), 'base64');

/**
 * The object in a `application/vnd.kubernetes.protobuf` body. Nothing is skipped: throws 415 for kinds that are not in
 * the table, and 400 for fields that are not.
 */
export function decodeProtobuf(body: Buffer): JsonMap {
  if (body.subarray(0, 4).toString('latin1') !== 'k8s\0')
    throw badRequest('provided data does not appear to be a protobuf message');
  try {
    const { typeMeta, raw, contentEncoding, contentType } = readMessage(body.subarray(4), 'envelope', envelope);
    if (contentEncoding || contentType) throw badRequest('an encoding within protobuf is not read');
    const { apiVersion, kind } = mapOf(typeMeta);
    const name = objectMessages[kind === 'DeleteOptions' ? kind : `${apiVersion}/${kind}`];
    if (name === undefined) throw notRead(`${kind} in ${apiVersion}`);
    return { apiVersion, kind, ...mapOf(readValue(name, bytesOf(raw))) };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw badRequest(`error decoding protobuf: ${(error as Error).message}`);
  }
}

function notRead(what: string): ApiError {
  const { code, reason, message } = unsupportedMediaType(['application/json', 'application/yaml']);
  return new ApiError(code, reason, `${message}; ${what} is not read from protobuf`);
}

/** A value of a delimited field. */
function readValue(type: string, bytes: Uint8Array): unknown {
  const [fields, json] = special[type] ?? [];
  if (fields !== undefined) return json?.(readMessage(bytes, type, fields));
  return readMessage(bytes, type, messageNamed(type));
}

function readMessage(bytes: Uint8Array, type: string, fields: Message): JsonMap {
  const reader = new BinaryReader(bytes);
  const found = new Map<string, unknown>();
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = fields.get(number);
    if (field === undefined) throw badRequest(`field ${number} of ${type} is not known here`);
    const isVarint = field.type in varints && field.container !== 'map';
    if (wire !== (isVarint ? WireType.Varint : WireType.LengthDelimited))
      throw badRequest(`field ${number} of ${type} has wire type ${wire}`);
    readField(found, field, reader);
  }
  return Object.fromEntries(found);
}

/** As Go writes JSON: an optional field without a value is left out, and the fields of some messages are the outer one's. */
function readField(
  found: Map<string, unknown>,
  { name, isOptional, container, type }: MessageField,
  from: BinaryReader,
) {
  const known = found.get(name);
  if (container === 'map') return found.set(name, { ...mapOf(known), ...readEntry(from.bytes(), type) });
  const value = read(from, type);
  if (container === 'list') return found.set(name, [...((known as unknown[]) ?? []), value]);
  if (name === '') for (const [key, inner] of Object.entries(mapOf(value))) found.set(key, inner);
  else if (value || !isOptional) found.set(name, value);
  return found;
}

function readEntry(bytes: Uint8Array, type: string): JsonMap {
  const { key = '', value } = readMessage(bytes, 'a map', messageOf({ 1: 'key string', 2: `value ${type}` }));
  return { [String(key)]: value ?? '' };
}

const varints: Readonly<Record<string, (reader: BinaryReader) => unknown>> = {
  bool: (reader) => reader.bool(),
  int32: (reader) => reader.int32(),
  int64: (reader) => safe(Number(reader.int64())),
};

function read(reader: BinaryReader, type: string): unknown {
  if (type === 'string') return reader.string(true);
  if (type === 'bytes') return Buffer.from(reader.bytes()).toString('base64');
  return varints[type]?.(reader) ?? readValue(type, reader.bytes());
}

function safe(value: number): number {
  if (!Number.isSafeInteger(value)) throw badRequest(`${value} is too big a number here`);
  return value;
}
