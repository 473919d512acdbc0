import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import { isControl, pathOf } from './control-path.ts';
import { type Journal, type JournalEntry, journalBody, journalHeaders } from './journal.ts';

/** Writes every request into the journal as it arrives, then its body as it is read and its status as it is sent. */
export function keepJournal(app: FastifyInstance, journal: Journal, clock: Clock): void {
  const entries = new WeakMap<FastifyRequest, JournalEntry>();

  app.addHook('onRequest', async (request) => {
    if (isControl(request)) return;
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
