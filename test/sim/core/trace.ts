import { createHash, type Hash } from 'node:crypto';

export interface TraceOptions {
  /** Is told every line; default nobody. */
  readonly print?: ((line: string) => void) | undefined;
  /** Default true; without it a long world takes less time. */
  readonly hashed?: boolean | undefined;
}

const mostWaiting = 100_000;

/** What happened, in order; equal hashes mean equal worlds. */
export class Trace {
  readonly #hash: Hash | undefined;
  readonly #now: () => number;
  readonly #print: ((line: string) => void) | undefined;
  #lines = 0;
  /** Lines that are not hashed yet: many at once take less time than each by itself. */
  #waiting = '';

  constructor(now: () => number, { print, hashed = true }: TraceOptions = {}) {
    this.#now = now;
    this.#print = print;
    this.#hash = hashed ? createHash('sha256') : undefined;
  }

  get length(): number {
    return this.#lines;
  }

  /** Who did what: one line. */
  add(who: string, what: string): void {
    this.#lines += 1;
    if (this.#hash === undefined && this.#print === undefined) return;
    const line = `${virtualTime(this.#now())} ${who.padEnd(12)} ${what}`;
    this.#print?.(line);
    this.#waiting += `${line}\n`;
    if (this.#waiting.length > mostWaiting) this.#digest();
  }

  /** Of all lines so far; empty where none is kept. */
  hash(): string {
    this.#digest();
    return this.#hash?.copy().digest('hex').slice(0, 16) ?? '';
  }

  #digest(): void {
    this.#hash?.update(this.#waiting);
    this.#waiting = '';
  }
}

/** `0d 00:01:02.345`; days only where there are any. */
export function virtualTime(ms: number): string {
  const whole = Math.floor(ms / 86_400_000);
  const rest = new Date(ms).toISOString().slice(11, 23);
  return whole === 0 ? rest : `${whole}d ${rest}`;
}

const longestShown = 400;

/** A body as part of a line. */
export function shown(body: string | undefined): string {
  if (body === undefined || body === '') return '';
  const isLong = body.length > longestShown;
  const line = (isLong ? body.slice(0, longestShown) : body).replaceAll('\n', ' ').trim();
  return ` ${line}${isLong ? '...' : ''}`;
}
