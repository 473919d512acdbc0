import { WriteStream as FileStream, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { WriteStream as Terminal } from 'node:tty';

/** Lines that could not be written. */
export interface Lost {
  readonly lines: number;
  /** When the first of them was to be written. */
  readonly since: Date;
}

export interface OutputOptions {
  /** The line that says what was lost. */
  readonly notice: (lost: Lost) => string;
  readonly now?: () => Date;
}

type Done = (error?: Error | null) => void;
type Write = (text: string, done: Done) => void;

/** Characters that may wait for a reader; a line that finds fewer waits as a whole. */
const mostWaiting = 1024 * 1024;

/**
 * Writes the lines of a process that has more important things to do: it never throws, waits or grows. What cannot be
 * written (the disk is full, nobody reads) is dropped and counted; what is written next begins with the notice of it.
 */
export class Output {
  readonly #stream: Writable;
  readonly #write: Write;
  readonly #notice: (lost: Lost) => string;
  readonly #now: () => Date;
  #lost: Lost | undefined;
  #clogged = false;

  constructor(stream: Writable, { notice, now = () => new Date() }: OutputOptions) {
    this.#stream = stream;
    this.#notice = notice;
    this.#now = now;
    this.#write = isFile(stream) ? writerTo(stream) : (text, done) => stream.write(text, done);
    // That it is told by the callbacks is enough; without a listener an error would end the process.
    stream.on('error', () => {});
    stream.on('drain', () => this.#catchUp());
    unblock(stream);
  }

  /** The line with its end. */
  write(line: string): void {
    if (this.#isClogged()) this.#lose(1, this.#now());
    else this.#send(line, 1);
  }

  /** Somebody reads again. */
  #catchUp(): void {
    if (this.#lost !== undefined) this.#send('', 0);
  }

  #send(text: string, lines: number): void {
    const lost = this.#lost;
    this.#lost = undefined;
    this.#write(lost === undefined ? text : this.#notice(lost) + text, (error) => {
      if (error) this.#lose(lines + (lost?.lines ?? 0), lost?.since ?? this.#now());
    });
  }

  #lose(lines: number, since: Date): void {
    const { lines: before = 0, since: first = since } = this.#lost ?? {};
    this.#lost = { lines: before + lines, since: first < since ? first : since };
  }

  /** From when there is no more room until all was read: of a slow reader's lines whole stretches are lost, not every other. */
  #isClogged(): boolean {
    const { writableLength } = this.#stream;
    if (writableLength >= mostWaiting) this.#clogged = true;
    if (writableLength === 0) this.#clogged = false;
    return this.#clogged;
  }
}

interface File {
  readonly fd: number;
  /** As `writeSync` of Node. */
  readonly put?: (fd: number, bytes: Buffer, offset: number) => number;
}

/** A file takes what there is room for, and Node's own stream for files would not look how much that was. */
export function writerTo({ fd, put = writeSync }: File): Write {
  let isTorn = false;
  return (text, done) => {
    const bytes = Buffer.from(isTorn ? `\n${text}` : text);
    let written = 0;
    try {
      while (written < bytes.length) written += some(put(fd, bytes, written));
      done();
    } catch (error) {
      done(error as Error);
    }
    if (written > 0) isTorn = bytes[written - 1] !== 0x0a;
  };
}

/** A device that takes nothing and says nothing would be asked for ever. */
function some(written: number): number {
  if (written === 0) throw new Error('nothing was written');
  return written;
}

/** Standard output and error, where they lead to a file. */
function isFile(stream: object): stream is { readonly fd: number } {
  const isOther = stream instanceof Socket || stream instanceof FileStream;
  return !isOther && 'fd' in stream && typeof stream.fd === 'number';
}

/** Node writes to a terminal while the process waits: one that stands still, as after Ctrl-S, would stop it. */
function unblock(stream: object): void {
  if (!(stream instanceof Terminal)) return;
  const { _handle: handle } = stream as { readonly _handle?: { setBlocking?(blocking: boolean): unknown } };
  handle?.setBlocking?.(false);
}
