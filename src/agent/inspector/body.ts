import { type Message, valuesOf } from '../captures/message.ts';
import { charsetOf } from './charset.ts';
import { decode } from './codings.ts';

const limitMiB = 4;

/** A body as the page shows it. */
export interface ShownBody {
  /** Text, or base64 of what is none. */
  readonly text: string;
  readonly encoding: 'utf8' | 'base64';
  /** The character set of the text, where it is not UTF-8. */
  readonly charset?: string;
  /** Bytes as they were sent. */
  readonly size: number;
  readonly contentType: string;
  /** The content coding that was taken off. */
  readonly decoded?: string;
  /** Why it is shown as it was sent. */
  readonly problem?: string;
  readonly truncated: boolean;
}

/** Without content coding, at most 4 MiB of it. */
export function shownBody(message: Message): ShownBody {
  return shownContent(message.body(), { ...typeOf(message), truncated: message.truncated });
}

/** What the headers say of the body. */
export function typeOf({ rawHeaders }: Message): Omit<Content, 'truncated'> {
  const [contentType = ''] = valuesOf(rawHeaders, 'content-type');
  return { contentType, coding: valuesOf(rawHeaders, 'content-encoding').join() };
}

export interface Content {
  readonly contentType: string;
  readonly coding: string;
  /** Whether bytes were left out. */
  readonly truncated: boolean;
}

/** As {@link shownBody}, of the bytes of a body. */
export function shownContent(body: Buffer, { contentType, coding, truncated: cut }: Content): ShownBody {
  const { bytes, ...how } = decode(body, coding, limitMiB);
  const shown = bytes.subarray(0, limitMiB * 1024 * 1024);
  const truncated = cut || shown.length < bytes.length;
  const isPacked = how.problem !== undefined;
  const charset = isPacked ? undefined : charsetOf(contentType);
  return { ...asText(shown, charset, truncated), size: body.length, contentType, ...how, truncated };
}

/** As UTF-8 where it is that, whatever it is said to be; a body that is cut off may end in the middle of a character. */
function asText(
  bytes: Buffer,
  charset: string | undefined,
  truncated: boolean,
): Pick<ShownBody, 'text' | 'encoding' | 'charset'> {
  for (const encoding of new Set(['utf-8', charset ?? 'utf-8'])) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: truncated });
      if (!text.includes('\0'))
        return { text, encoding: 'utf8', ...(encoding === 'utf-8' ? {} : { charset: encoding }) };
    } catch {
      // It is not in this one.
    }
  }
  return { text: bytes.toString('base64'), encoding: 'base64' };
}
