import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../common/clock.ts';
import { isAside, pathOf } from '../guard.ts';
import type { NewId } from '../ids.ts';
import { errorBody } from '../problem.ts';
import type { Effect, Fault } from './fault-spec.ts';
import type { Faults } from './faults.ts';

const page = '<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to continue</h1></body></html>';

export interface Injection {
  readonly faults: Faults;
  /** For measuring. */
  readonly monotonic: Clock;
  readonly newId: NewId;
}

/** Lets faults strike, ahead of everything else that looks at a request. */
export function injectFaults(app: FastifyInstance, { faults, monotonic, newId }: Injection): void {
  const struck = new WeakMap<FastifyRequest, Fault>();
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort(new Error('the server is closing')));

  app.addHook('onRequest', async (request, reply) => {
    const fault = isAside(request) ? undefined : faults.take(request.method, pathOf(request));
    if (fault === undefined) return;
    struck.set(request, fault);
    keepQuiet(request);
    const cut = await late(fault.latencyMs, monotonic, closing.signal);
    return beforeWork(cut ? { kind: 'reset' } : fault.effect, request, reply, newId, closing.signal);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const effect = struck.get(request)?.effect;
    if (effect?.kind === 'drop') {
      reply.hijack();
      reply.raw.destroy();
      // Never goes on to the sending.
      return new Promise(() => {});
    }
    if (effect?.kind !== 'malformed' || typeof payload !== 'string') return payload;
    reply.removeHeader('content-length');
    return malform(payload, effect.field);
  });
}

/** An answer that is kept back may take longer than connections may be quiet. */
function keepQuiet({ raw: { socket } }: FastifyRequest): void {
  if (socket instanceof Socket) socket.setTimeout(0);
}

/** True when the server closes meanwhile. */
async function late(ms: number, clock: Clock, closing: AbortSignal): Promise<boolean> {
  try {
    if (ms > 0) await clock.sleep(ms, closing);
    return false;
  } catch {
    return true;
  }
}

function beforeWork(
  effect: Effect,
  request: FastifyRequest,
  reply: FastifyReply,
  newId: NewId,
  closing: AbortSignal,
): unknown {
  switch (effect.kind) {
    case 'status':
      return sendStatus(effect, reply, newId);
    case 'html':
      return reply.type('text/html; charset=utf-8').send(page);
    case 'hang':
      return hang(reply, closing);
    case 'reset':
      reply.hijack();
      reset(request, reply);
      return reply;
    default:
      return undefined;
  }
}

/** For as long as the server runs. */
function hang(reply: FastifyReply, closing: AbortSignal): FastifyReply {
  const cut = () => reply.raw.destroy();
  closing.addEventListener('abort', cut);
  reply.raw.once('close', () => closing.removeEventListener('abort', cut));
  return reply.hijack();
}

/** Without a socket, as in a simulator, the error says what became of the connection. */
function reset({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
  if (socket instanceof Socket) socket.resetAndDestroy();
  else reply.raw.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
}

function sendStatus(effect: Extract<Effect, { kind: 'status' }>, reply: FastifyReply, newId: NewId): FastifyReply {
  const { status, retryAfter, body } = effect;
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  reply.code(status);
  if (body !== undefined) return reply.type(isJson(body) ? 'application/json' : 'text/plain').send(body);
  const cause = status === 429 ? 'rateLimited' : 'faultInjected';
  return reply.send(errorBody(cause, `injected fault: status ${status}`, newId('op'), status));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrongType = (value: unknown): unknown => (typeof value === 'string' ? 4711 : 'not the right type');

/** The JSON text with one field of a wrong type; of a list, in its first item. What is no object stays as it is. */
function malform(payload: string, field?: string): string {
  const answer: unknown = payload === '' ? undefined : JSON.parse(payload);
  if (!isObject(answer)) return payload;
  const target = (field === undefined || !(field in answer) ? firstItem(answer) : undefined) ?? answer;
  const name = field ?? Object.keys(target)[0];
  if (name !== undefined) target[name] = wrongType(target[name]);
  return JSON.stringify(answer);
}

function firstItem(answer: Json): Json | undefined {
  if (!('next_page_uri' in answer)) return undefined;
  const items = Object.values(answer).find(Array.isArray);
  return items?.find(isObject);
}
