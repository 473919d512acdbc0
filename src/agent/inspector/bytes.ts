import type { Message } from '../captures/message.ts';
import { typeOf } from './body.ts';
import { decode } from './codings.ts';

const limitMiB = 16;

/** What can be had of a captured message as bytes. */
const forms: ReadonlyMap<string, (message: Message) => Buffer> = new Map([
  ['raw', (message: Message) => message.raw()],
  ['body', (message: Message) => message.body()],
  /** The body without its content coding, where that could be taken off. */
  ['content', (message: Message) => decode(message.body(), typeOf(message).coding, limitMiB).bytes],
]);

export function bytesOf(message: Message, form: string): Buffer | undefined {
  return forms.get(form)?.(message);
}

const extensions: ReadonlyMap<string, string> = new Map([
  ['application/json', 'json'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/css', 'css'],
  ['text/csv', 'csv'],
  ['text/javascript', 'js'],
  ['application/pdf', 'pdf'],
  ['application/zip', 'zip'],
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/svg+xml', 'svg'],
]);

/** For what is saved: of a content type that is not known `bin`, whatever the message would like to be called. */
export function extensionOf(message: Message): string {
  const [type = ''] = typeOf(message).contentType.toLowerCase().split(';');
  return extensions.get(type.trim()) ?? 'bin';
}
