import type { FastifyInstance } from 'fastify';
import { wireCapture } from '../api/wire.ts';
import type { Capture } from '../captures/capture.ts';
import type { Captures } from '../captures/captures.ts';
import type { History } from '../metrics/history.ts';
import { AgentProblem } from '../problem.ts';
import { type Replays, readEditedReplay } from '../replay.ts';
import { shownBody } from './body.ts';
import { feed, tunnelKey } from './feed.ts';
import type { PageFile } from './page.ts';

export interface InspectorParts {
  readonly captures: Captures;
  readonly replays: Replays;
  readonly history: History;
  readonly page: readonly PageFile[];
}

/** Nothing but what this server itself sends may run or be loaded, whatever a captured body holds. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

const eventsHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };

/** The inspector page on `/` and `/status`, and under `/inspect` what it needs beside the Local Agent API. */
export function addInspector(app: FastifyInstance, { captures, replays, history, page }: InspectorParts): void {
  for (const { path, contentType, body } of page) {
    const urls = path === '/page/index.html' ? ['/', '/status'] : [path];
    for (const url of urls) app.get(url, (_, reply) => reply.headers(headers).type(contentType).send(body));
  }
  app.get('/inspect/events', ({ method }, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, eventsHeaders);
    if (method === 'HEAD') reply.raw.end();
    else feed(captures, reply.raw);
  });
  app.get('/inspect/history', async () => ({ samples: history.read() }));
  app.get<{ Params: { id: string } }>('/inspect/requests/:id', async ({ params: { id } }) => {
    const capture = captures.get(id);
    if (capture === undefined) throw new AgentProblem('requestUnknown', `no captured request has the id "${id}"`);
    return shownCapture(capture);
  });
  app.post('/inspect/replays', async (request, reply) => {
    const capture = replays.replayEdited(readEditedReplay(request.body));
    return reply.code(201).send({ id: capture?.id ?? null });
  });
}

/** A captured request with its headers in order and its bodies decoded. */
function shownCapture(capture: Capture) {
  const { request, requestMessage, response, responseMessage, ended } = capture;
  return {
    ...wireCapture(capture),
    tunnel: tunnelKey(capture),
    ended,
    requestHeaders: request.rawHeaders,
    requestBody: shownBody(requestMessage),
    responseHeaders: response?.rawHeaders ?? [],
    responseBody: responseMessage === undefined ? null : shownBody(responseMessage),
  };
}
