import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Fields of a message by number, as `generated.proto` of Kubernetes has them; a list is a field given more than once. */
export interface Fields {
  readonly [number: number]: Value | readonly Value[];
}

type Value = string | number | boolean | Uint8Array | Fields;

export function message(fields: Fields): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, values] of Object.entries(fields)) {
    for (const value of Array.isArray(values) ? values : [values]) write(writer, Number(number), value);
  }
  return writer.finish();
}

function write(writer: BinaryWriter, number: number, value: Value): void {
  if (typeof value === 'number' || typeof value === 'boolean') writer.tag(number, WireType.Varint).int64(Number(value));
  else if (typeof value === 'string') writer.tag(number, WireType.LengthDelimited).string(value);
  else writer.tag(number, WireType.LengthDelimited).bytes(value instanceof Uint8Array ? value : message(value));
}

/** A body of type application/vnd.kubernetes.protobuf. */
export function envelope(apiVersion: string, kind: string, fields: Fields): Uint8Array {
  const unknown = message({ 1: { 1: apiVersion, 2: kind }, 2: fields });
  return Buffer.concat([Buffer.from('k8s\0'), unknown]);
}
