import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

type Decode = (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

export interface Decoded {
  readonly bytes: Buffer;
  /** The content coding that was taken off. */
  readonly decoded?: string;
  /** Why it is as it was sent. */
  readonly problem?: string;
}

export const isCoded = (coding: string): boolean => !['', 'identity'].includes(coding.trim().toLowerCase());

/** A body without its content coding, as `Content-Encoding` names it, where it is then no longer than the limit. */
export function decode(body: Buffer, contentEncoding: string, limitMiB: number): Decoded {
  const coding = contentEncoding.trim().toLowerCase();
  if (!isCoded(coding) || body.length === 0) return { bytes: body };
  const decoder = decoders.get(coding);
  if (decoder === undefined) return { bytes: body, problem: `content coding "${coding}" is not known` };
  try {
    return { bytes: decoder(body, { maxOutputLength: limitMiB * 1024 * 1024 }), decoded: coding };
  } catch {
    return { bytes: body, problem: `not whole ${coding}, or more than ${limitMiB} MiB` };
  }
}
