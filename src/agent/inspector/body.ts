import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { type Message, valuesOf } from '../captures/message.ts';

/** A body as the page shows it. */
export interface ShownBody {
  /** Text in UTF-8, or base64 of what is none. */
  readonly text: string;
  readonly encoding: 'utf8' | 'base64';
  /** Bytes as they were sent. */
  readonly size: number;
  readonly contentType: string;
  /** The content coding that was taken off. */
  readonly decoded?: string;
  /** Why it is shown as it was sent. */
  readonly problem?: string;
  readonly truncated: boolean;
}

const limitBytes = 4 * 1024 * 1024;
const options = { maxOutputLength: limitBytes };

type Decode = (body: Buffer) => Buffer;

const decoders: Readonly<Record<string, Decode>> = {
  gzip: (body) => gunzipSync(body, options),
  'x-gzip': (body) => gunzipSync(body, options),
  deflate: (body) => inflateSync(body, options),
  br: (body) => brotliDecompressSync(body, options),
  zstd: (body) => zstdDecompressSync(body, options),
};

/** Without content coding, at most 4 MiB of it. */
export function shownBody(message: Message): ShownBody {
  const [contentType = ''] = valuesOf(message.rawHeaders, 'content-type');
  const coding = valuesOf(message.rawHeaders, 'content-encoding').join();
  return shownContent(message.body(), { contentType, coding, truncated: message.truncated });
}

export interface Content {
  readonly contentType: string;
  readonly coding: string;
  /** Whether bytes were left out. */
  readonly truncated: boolean;
}

/** As {@link shownBody}, of the bytes of a body. */
export function shownContent(body: Buffer, { contentType, coding, truncated: cut }: Content): ShownBody {
  const { bytes, ...how } = decode(body, coding.trim().toLowerCase());
  const shown = bytes.subarray(0, limitBytes);
  const truncated = cut || shown.length < bytes.length;
  return { ...asText(shown, truncated), size: body.length, contentType, ...how, truncated };
}

function decode(
  body: Buffer,
  coding: string,
): { readonly bytes: Buffer; readonly decoded?: string; readonly problem?: string } {
  if (coding === '' || coding === 'identity' || body.length === 0) return { bytes: body };
  const decoder = decoders[coding];
  if (decoder === undefined) return { bytes: body, problem: `content coding "${coding}" is not known` };
  try {
    return { bytes: decoder(body), decoded: coding };
  } catch {
    return { bytes: body, problem: `not whole ${coding}, or more than 4 MiB` };
  }
}

/** A body that is cut off may end in the middle of a character. */
function asText(bytes: Buffer, truncated: boolean): Pick<ShownBody, 'text' | 'encoding'> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: truncated });
    if (!text.includes('\0')) return { text, encoding: 'utf8' };
  } catch {
    // Not UTF-8.
  }
  return { text: bytes.toString('base64'), encoding: 'base64' };
}
