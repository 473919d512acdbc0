const crlf = '\r\n';

/** Names and values in turn, as they stood in the message. */
export type RawHeaders = readonly string[];

/**
 * One HTTP message as it was received: its head, its body without transfer coding, its trailers. A message over the
 * cap keeps the beginning of its body and is marked.
 */
export class Message {
  readonly startLine: string;
  readonly rawHeaders: RawHeaders;
  readonly #chunks: Buffer[] = [];
  #trailers: RawHeaders = [];
  #bodyBytes = 0;
  #truncated = false;
  #complete = false;

  constructor(startLine: string, rawHeaders: RawHeaders) {
    this.startLine = startLine;
    this.rawHeaders = rawHeaders;
  }

  /** Bytes of the body that are kept. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Whether bytes of the body were left out. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Whether the end of the message was seen. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Keeps the chunk itself: the caller does not change it any more. */
  append(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bodyBytes += chunk.length;
  }

  truncate(): void {
    this.#truncated = true;
  }

  end(trailers: RawHeaders = []): void {
    this.#trailers = trailers;
    this.#complete = true;
  }

  body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** The message as HTTP/1.1 puts it on the wire; where it was chunked, in chunks again. */
  raw(): Buffer {
    const head = Buffer.from(`${this.startLine}${crlf}${lines(this.rawHeaders)}${crlf}`, 'latin1');
    return Buffer.concat([head, ...(this.#isChunked() ? this.#chunked() : this.#chunks)]);
  }

  #isChunked(): boolean {
    return valuesOf(this.rawHeaders, 'transfer-encoding').some((value) => /\bchunked\b/i.test(value));
  }

  #chunked(): readonly Buffer[] {
    const framed = this.#chunks.flatMap((chunk) => [
      Buffer.from(chunk.length.toString(16) + crlf),
      chunk,
      Buffer.from(crlf),
    ]);
    if (!this.#complete || this.#truncated) return framed;
    return [...framed, Buffer.from(`0${crlf}${lines(this.#trailers)}${crlf}`, 'latin1')];
  }
}

/** Every value of a header, in order; `name` in lower case. */
export function valuesOf(headers: RawHeaders, name: string): readonly string[] {
  return pairs(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
}

export function pairs(headers: RawHeaders): readonly (readonly [name: string, value: string])[] {
  return Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at] ?? '', headers[2 * at + 1] ?? '']);
}

const lines = (headers: RawHeaders): string =>
  pairs(headers)
    .map(([name, value]) => `${name}: ${value}${crlf}`)
    .join('');
