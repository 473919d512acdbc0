import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WallClock } from '../../common/clock.ts';
import { isAside, pathOf } from './guard.ts';
import { mostLevels, nestsDeeper } from './nesting.ts';

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

const notShown = '(not shown)';
const secretFields = new Set(['secret', 'idp_metadata']);

/** As others may see it: without the values of fields that hold secrets, wherever they stand. */
export function withoutSecrets(entry: JournalEntry): JournalEntry {
  const hide = (name: string, value: unknown) => (secretFields.has(name) && value !== '' ? notShown : value);
  return { ...entry, body: entry.body && JSON.parse(JSON.stringify(entry.body, hide)) };
}

/** Writes every request into the journal as it arrives, then its body as it is read and its status as it is sent. */
export function keepJournal(app: FastifyInstance, journal: Journal, clock: WallClock): void {
  const entries = new WeakMap<FastifyRequest, JournalEntry>();

  app.addHook('onRequest', async (request) => {
    if (isAside(request)) return;
    const entry: JournalEntry = {
      method: request.method,
      path: pathOf(request),
      query: { ...(request.query as Record<string, unknown>) },
      at: new Date(clock.now()).toISOString(),
      headers: journalHeaders(request.headers),
      status: null,
    };
    entries.set(request, entry);
    journal.add(entry);
  });

  app.addHook('preHandler', async (request) => {
    const entry = entries.get(request);
    if (entry !== undefined && request.body !== undefined) entry.body = journalBody(request.body);
  });

  app.addHook('onSend', async (request, reply) => {
    const entry = entries.get(request);
    if (entry !== undefined) entry.status = reply.statusCode;
  });
}

/** Long bodies are kept as their length only, deep ones not at all. */
export function journalBody(body: unknown): unknown {
  if (nestsDeeper(body)) return { omittedBeyondLevel: mostLevels };
  const length = JSON.stringify(body)?.length ?? 0;
  return length > maximumBodyCharacters ? { omittedCharacters: length } : body;
}

function journalHeaders(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return headers.authorization === undefined ? headers : { ...headers, authorization: notShown };
}
