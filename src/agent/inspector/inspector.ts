import type { FastifyInstance } from 'fastify';
import type { Capture } from '../captures/capture.ts';
import type { Captures } from '../captures/captures.ts';
import type { History } from '../metrics/history.ts';
import { AgentProblem } from '../problem.ts';
import { type Replays, readEditedReplay, readReplay } from '../replay.ts';
import { bytesOf, extensionOf } from './bytes.ts';
import { feed, pageful } from './feed.ts';
import { type Filter, readFilter } from './filter.ts';
import type { PageFile } from './page.ts';
import { search } from './search.ts';
import { shown, versionOf } from './shown.ts';
import { summary } from './summary.ts';

export interface InspectorParts {
  readonly captures: Captures;
  readonly replays: Replays;
  readonly history: History;
  readonly page: readonly PageFile[];
}

/** Nothing but what this server itself sends may run or be loaded, whatever a captured body holds. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

const eventsHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };

/** To be saved, never to be opened here as what it is. */
const bytesHeaders = {
  ...headers,
  'content-security-policy': "default-src 'none'; sandbox",
  'content-type': 'application/octet-stream',
  'cache-control': 'no-store',
};

/** The inspector page on `/` and `/status`, and under `/inspect` what it needs beside the Local Agent API. */
export function addInspector(app: FastifyInstance, { captures, replays, history, page }: InspectorParts): void {
  for (const { path, contentType, body } of page) {
    const urls = path === '/page/index.html' ? ['/', '/status'] : [path];
    for (const url of urls) app.get(url, (_, reply) => reply.headers(headers).type(contentType).send(body));
  }
  app.get('/inspect/events', ({ method, query }, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, eventsHeaders);
    if (method === 'HEAD') reply.raw.end();
    else feed(captures, filterOf(query), reply.raw);
  });
  app.get('/inspect/history', async () => ({ samples: history.read() }));
  addReplays(app, replays);
  addRequests(app, captures);
}

function addReplays(app: FastifyInstance, replays: Replays): void {
  app.post('/inspect/replays', async ({ body }, reply) => reply.code(201).send(idOf(replays.replay(readReplay(body)))));
  app.post('/inspect/replays/edited', async ({ body }, reply) =>
    reply.code(201).send(idOf(replays.replayEdited(readEditedReplay(body)))),
  );
}

/** Null where the tunnel's requests are not captured. */
const idOf = (capture: Capture | undefined) => ({ id: capture?.id ?? null });

function addRequests(app: FastifyInstance, captures: Captures): void {
  const known = (id: string): Capture => {
    const capture = captures.get(id);
    if (capture !== undefined) return capture;
    throw new AgentProblem('requestUnknown', `no captured request has the id "${id}"`);
  };
  app.get('/inspect/requests', async ({ query }, reply) => {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const older = captures.before(text(query, 'before'));
    const { captures: found, upTo } = await search(older, filterOf(query), { ...pageful, signal: gone.signal });
    return { requests: found.map(summary), held: captures.count, upTo };
  });
  app.get<{ Params: { id: string } }>('/inspect/requests/:id', async ({ params: { id }, headers }, reply) => {
    const capture = known(id);
    const version = versionOf(capture);
    reply.headers({ etag: version, 'cache-control': 'no-store' });
    return headers['if-none-match'] === version ? reply.code(304).send() : shown(capture);
  });
  app.get<{ Params: Record<'id' | 'part' | 'form', string> }>(
    '/inspect/requests/:id/:part/:form',
    async ({ params: { id, part, form } }, reply) => {
      const { requestMessage, responseMessage } = known(id);
      const message = part === 'request' ? requestMessage : part === 'response' ? responseMessage : undefined;
      const bytes = message && bytesOf(message, form);
      if (message === undefined || bytes === undefined) {
        throw new AgentProblem('pathUnknown', 'the captured request has nothing of this kind');
      }
      const name = `${id}-${part}.${extensionOf(message)}`;
      reply.headers({ ...bytesHeaders, 'content-disposition': `attachment; filename="${name}"` });
      return bytes;
    },
  );
}

const filterOf = (query: unknown): Filter => readFilter(text(query, 'filter'), text(query, 'tunnel'));

function text(query: unknown, name: string): string {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : '';
}
