const crlf = '\r\n';
/** Below this, Node puts many small buffers into one piece of memory. */
const pooledBytes = 4_096;

/** What a piece of a body costs beside its bytes: a buffer and its place in an array. */
export const pieceOverhead = 96;

/** Names and values in turn, as they stood in the message. */
export type RawHeaders = readonly string[];

/**
 * One HTTP message as it was received: its head, its body without transfer coding, its trailers. A message over the
 * cap keeps the beginning of its body and is marked.
 *
 * Thousands of them are held, so that the head is one buffer and not dozens of strings for the garbage collector.
 */
export class Message {
  readonly #head: Buffer;
  #chunks: Buffer[] | undefined;
  #trailers: Buffer | undefined;
  #bodyBytes = 0;
  #truncated = false;
  #complete = false;

  constructor(startLine: string, rawHeaders: RawHeaders) {
    this.#head = Buffer.from(`${startLine}${crlf}${lines(rawHeaders)}${crlf}`, 'latin1');
  }

  /** Bytes of the head. */
  get headBytes(): number {
    return this.#head.length;
  }

  /** Bytes of the body that are kept. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Bytes of memory that they take. */
  get bodyCost(): number {
    return this.#bodyBytes + pieceOverhead * (this.#chunks?.length ?? 0);
  }

  /** Whether bytes of the body or the trailers were left out. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Whether the end of the message was seen. */
  get complete(): boolean {
    return this.#complete;
  }

  get startLine(): string {
    return this.#head.toString('latin1', 0, this.#head.indexOf(crlf));
  }

  /** Start line and headers as text. */
  get head(): string {
    return this.#head.toString('latin1');
  }

  get rawHeaders(): RawHeaders {
    return this.#headLines()
      .slice(1)
      .flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
  }

  /** The caller does not change the chunk any more. */
  append(chunk: Buffer): void {
    const isPiece = chunk.length < chunk.buffer.byteLength;
    // Of a piece of a larger buffer a copy, or all of that buffer would stay in memory.
    const kept = isPiece || chunk.length < pooledBytes ? Buffer.from(chunk) : chunk;
    if (this.#chunks === undefined) this.#chunks = [kept];
    else this.#chunks.push(kept);
    this.#bodyBytes += chunk.length;
  }

  truncate(): void {
    this.#truncated = true;
  }

  /** Gives up all but the head. */
  drop(): void {
    this.#chunks = undefined;
    this.#trailers = undefined;
    this.#bodyBytes = 0;
    this.truncate();
  }

  end(trailers?: Buffer): void {
    this.#trailers = trailers;
    this.#complete = true;
  }

  /** The body as it came, in pieces. */
  get chunks(): readonly Buffer[] {
    return this.#chunks ?? [];
  }

  body(): Buffer {
    return Buffer.concat(this.#chunks ?? []);
  }

  /** The message as HTTP/1.1 puts it on the wire; where it was chunked, in chunks again. */
  raw(): Buffer {
    return Buffer.concat([this.#head, ...(this.#isChunked() ? this.#chunked() : (this.#chunks ?? []))]);
  }

  #headLines(): readonly string[] {
    return this.#head
      .toString('latin1')
      .slice(0, -2 * crlf.length)
      .split(crlf);
  }

  #isChunked(): boolean {
    return valuesOf(this.rawHeaders, 'transfer-encoding').some((value) => /\bchunked\b/i.test(value));
  }

  #chunked(): readonly Buffer[] {
    const framed = (this.#chunks ?? []).flatMap((chunk) => [
      Buffer.from(chunk.length.toString(16) + crlf),
      chunk,
      Buffer.from(crlf),
    ]);
    if (!this.#complete || this.#truncated) return framed;
    return [
      ...framed,
      Buffer.from(`0${crlf}`),
      ...(this.#trailers === undefined ? [] : [this.#trailers]),
      Buffer.from(crlf),
    ];
  }
}

/** Every value of a header, in order; `name` in lower case. */
export function valuesOf(headers: RawHeaders, name: string): readonly string[] {
  return pairs(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
}

export function pairs(headers: RawHeaders): readonly (readonly [name: string, value: string])[] {
  return Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at] ?? '', headers[2 * at + 1] ?? '']);
}

/** Headers as they stand in a message. */
export function lines(headers: RawHeaders): string {
  let text = '';
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}${crlf}`;
  return text;
}
