/** A request as it was received, for tests that assert exact calls. */
export interface JournalEntry {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** RFC 3339 with milliseconds. */
  readonly at: string;
  /** Without the value of `authorization`. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Parsed JSON; undefined when there was none, or the request was refused before it was read. */
  body?: unknown;
  /** null until there was an answer, also one that was then dropped; for good on a reset or a hang. */
  status: number | null;
}

const maximumEntries = 10_000;
const maximumBodyCharacters = 65_536;

/** The latest requests, at least 5,000 and at most 10,000, in order of arrival. */
export class Journal {
  #entries: JournalEntry[] = [];

  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length > maximumEntries) this.#entries = this.#entries.slice(-maximumEntries / 2);
  }

  entries(): readonly JournalEntry[] {
    return [...this.#entries];
  }

  clear(): void {
    this.#entries = [];
  }
}

/** Long bodies are kept as their length only. */
export function journalBody(body: unknown): unknown {
  const length = JSON.stringify(body)?.length ?? 0;
  return length > maximumBodyCharacters ? { omittedCharacters: length } : body;
}

export function journalHeaders(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return headers.authorization === undefined ? headers : { ...headers, authorization: '(not shown)' };
}
