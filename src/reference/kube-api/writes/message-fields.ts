import table from './protobuf-fields.json' with { type: 'json' };

/** A field of a message of Kubernetes' own types. */
export interface MessageField {
  /** In JSON; empty when the fields of the message in it are the outer one's. */
  readonly name: string;
  /** Left out of JSON when it is empty. */
  readonly isOptional: boolean;
  readonly container: 'list' | 'map' | undefined;
  /** The fields by which items of a list are told apart; none when the list is one value. */
  readonly keys: readonly string[];
  readonly type: string;
}

/** By number. */
export type Message = ReadonlyMap<number, MessageField>;

/** From fields by number, each as `<name in JSON>[?] [list[/<key>...]|map] <type>`. */
export function messageOf(fields: Readonly<Record<number, string>>): Message {
  return new Map(Object.entries(fields).map(([number, text]) => [Number(number), fieldOf(text)]));
}

function fieldOf(text: string): MessageField {
  const [name = '', ...kind] = text.split(' ');
  const [container, ...keys] = kind.length === 2 ? (kind[0] ?? '').split('/') : [];
  const type = kind.at(-1) ?? '';
  const plain = name.replace('?', '');
  return { name: plain, isOptional: plain !== name, container: container as MessageField['container'], keys, type };
}

/** Names of the messages of objects, by apiVersion and kind. */
export const objectMessages: Readonly<Record<string, string>> = table.objects;

const messages = new Map(Object.entries(table.messages).map(([name, fields]) => [name, messageOf(fields)]));

export function messageNamed(name: string): Message {
  const found = messages.get(name);
  if (found === undefined) throw new Error(`no message ${name}`);
  return found;
}
