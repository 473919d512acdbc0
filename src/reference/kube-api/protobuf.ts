import { badRequest } from './api-error.ts';
import type { JsonMap } from './json.ts';

/** How to read one field of a protobuf message (k8s.io/api `generated.proto`). */
interface Field {
  readonly name: string;
  readonly type: 'string' | 'bytes' | 'bool' | 'int' | 'map' | 'bytesMap' | Message;
  readonly repeated?: boolean;
}

type Message = Readonly<Record<number, Field>>;

const text = (name: string): Field => ({ name, type: 'string' });
const map = (name: string): Field => ({ name, type: 'map' });
const reference: Message = {
  1: text('kind'),
  2: text('namespace'),
  3: text('name'),
  4: text('uid'),
  5: text('apiVersion'),
};
const meta: Field = {
  name: 'metadata',
  type: {
    1: text('name'),
    2: text('generateName'),
    3: text('namespace'),
    5: text('uid'),
    6: text('resourceVersion'),
    11: map('labels'),
    12: map('annotations'),
    14: { name: 'finalizers', type: 'string', repeated: true },
  },
};

/** The types that `kubectl create` sends as protobuf. */
const messages: Readonly<Record<string, Message>> = {
  ConfigMap: {
    1: meta,
    2: map('data'),
    3: { name: 'binaryData', type: 'bytesMap' },
    4: { name: 'immutable', type: 'bool' },
  },
  Secret: {
    1: meta,
    2: { name: 'data', type: 'bytesMap' },
    3: text('type'),
    4: map('stringData'),
    5: { name: 'immutable', type: 'bool' },
  },
  Namespace: { 1: meta },
  ServiceAccount: { 1: meta, 2: { name: 'secrets', type: reference, repeated: true } },
};

const envelope: Message = {
  1: { name: 'typeMeta', type: { 1: text('apiVersion'), 2: text('kind') } },
  2: { name: 'raw', type: 'bytes' },
};

/** The object in a `application/vnd.kubernetes.protobuf` body. Throws 400 for kinds that are not known here. */
export function decodeProtobuf(body: Buffer): JsonMap {
  if (body.subarray(0, 4).toString('latin1') !== 'k8s\0')
    throw badRequest('provided data does not appear to be a protobuf message');
  const { typeMeta, raw } = readMessage(body.subarray(4), envelope) as { typeMeta?: JsonMap; raw?: string };
  const { apiVersion, kind } = typeMeta ?? {};
  const message = messages[String(kind)];
  if (message === undefined)
    throw badRequest(`${String(kind)} in ${String(apiVersion)} is not read from protobuf; send JSON`);
  return { apiVersion, kind, ...readMessage(Buffer.from(raw ?? '', 'base64'), message) };
}

/** Reads the wire format: varints, and length-delimited strings, bytes and messages. */
function readMessage(bytes: Buffer, message: Message): JsonMap {
  const result: Record<string, unknown> = {};
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = message[tag >> 3];
    const length = varint();
    const isDelimited = (tag & 7) === 2;
    const content = bytes.subarray(at, isDelimited ? at + length : at);
    if (isDelimited) at += length;
    if (field !== undefined) addField(result, field, isDelimited ? content : length);
  }
  return result;
}

const entryOf = (value: Field['type']): Message => ({ 1: text('key'), 2: { name: 'value', type: value } });

function addField(result: Record<string, unknown>, { name, type, repeated }: Field, content: Buffer | number): void {
  const known = result[name];
  if (type === 'map' || type === 'bytesMap') {
    const entry = readMessage(content as Buffer, entryOf(type === 'map' ? 'string' : 'bytes'));
    result[name] = { ...(known as JsonMap), [String(entry.key ?? '')]: entry.value ?? '' };
    return;
  }
  const value = readValue(type, content);
  if (repeated === true) result[name] = [...((known as unknown[]) ?? []), value];
  else if (value !== '') result[name] = value;
}

function readValue(type: 'string' | 'bytes' | 'bool' | 'int' | Message, content: Buffer | number): unknown {
  if (typeof content === 'number') return type === 'bool' ? content === 1 : content;
  if (typeof type === 'object') return readMessage(content, type);
  return content.toString(type === 'bytes' ? 'base64' : 'utf8');
}
