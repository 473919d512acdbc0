import { z } from 'zod';
import type { Capture, RequestHead } from './captures/capture.ts';
import type { Captures } from './captures/captures.ts';
import type { RawHeaders } from './captures/message.ts';
import { pairs, valuesOf } from './captures/message.ts';
import { explain } from './fields.ts';
import { AgentProblem } from './problem.ts';
import type { Tunnels } from './tunnels/tunnels.ts';
import { asksForUpgrade } from './tunnels/upgrade.ts';

const text = z.string({ error: 'must be a string' });
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Body of POST /api/requests/http. */
const replaySchema = z.strictObject({ id: text, tunnel_name: text.optional() });

/** What the inspector page may change of a request; `body` is base64, and without it the captured one is sent. */
const editSchema = z.strictObject({
  ...replaySchema.shape,
  method: text.regex(token, { error: 'must be an HTTP method' }),
  uri: text.regex(/^(\/[\x21-\x7e]*|\*)$/, { error: 'must begin with / and hold neither blanks nor non-ASCII text' }),
  headers: z.array(
    z.tuple(
      [
        text.regex(token, { error: 'must be a header name' }),
        text.regex(/^[\t\x20-\x7e\x80-\xff]*$/, { error: 'must be a header value' }),
      ],
      { error: 'must be a name and a value' },
    ),
    { error: 'must be a list of names and values' },
  ),
  body: z.base64({ error: 'must be base64' }).optional(),
});

export type ReplayRequest = z.output<typeof replaySchema>;
export type EditedReplay = z.output<typeof editSchema>;

export const readReplay = (body: unknown): ReplayRequest => read(replaySchema, body);
export const readEditedReplay = (body: unknown): EditedReplay => read(editSchema, body);

export class Replays {
  readonly #captures: Captures;
  readonly #tunnels: Tunnels;

  constructor(captures: Captures, tunnels: Tunnels) {
    this.#captures = captures;
    this.#tunnels = tunnels;
  }

  /**
   * Sends a captured request to the local server of the tunnel it came through, or of the one named
   * (Local Agent API, section 4, rule 2). Returns as soon as it is on its way: how it goes is in the new capture.
   *
   * @throws AgentProblem when there is no such capture or tunnel, or not all of the request is there.
   */
  replay({ id, tunnel_name: tunnelName }: ReplayRequest): Capture | undefined {
    const original = this.#captureOf(id);
    if (asksForUpgrade(original.request.rawHeaders)) {
      throw new AgentProblem('notReplayable', 'the request asked for an upgrade of its connection');
    }
    return this.#send(original, tunnelName, original.request, wholeBody(original));
  }

  /** The same with a changed request. @throws AgentProblem */
  replayEdited({ id, tunnel_name: tunnelName, method, uri, headers, body }: EditedReplay): Capture | undefined {
    const original = this.#captureOf(id);
    const request = { method, target: uri, httpVersion: '1.1', rawHeaders: headers.flat() };
    return this.#send(
      original,
      tunnelName,
      request,
      body === undefined ? wholeBody(original) : Buffer.from(body, 'base64'),
    );
  }

  #captureOf(id: string): Capture {
    const capture = this.#captures.get(id);
    if (capture === undefined) throw new AgentProblem('requestUnknown', `no captured request has the id "${id}"`);
    return capture;
  }

  #send(original: Capture, tunnelName: string | undefined, request: RequestHead, body: Buffer): Capture | undefined {
    const key = tunnelName || original.tunnel.key;
    const tunnel = this.#tunnels.get(key);
    if (tunnel === undefined) throw new AgentProblem('tunnelUnknown', `no tunnel named "${key}" is running`);
    if (tunnel.replay === undefined) {
      throw new AgentProblem('notReplayable', `tunnel "${key}" carries ${tunnel.definition.proto}, not http`);
    }
    const framed = { ...request, rawHeaders: framedBy(request.rawHeaders, body.length) };
    return tunnel.replay({ of: original.id, remoteAddr: original.remoteAddr, request: framed, body });
  }
}

function wholeBody({ requestMessage }: Capture): Buffer {
  if (requestMessage.truncated) throw new AgentProblem('notReplayable', 'the captured body was truncated');
  if (!requestMessage.complete) throw new AgentProblem('notReplayable', 'the request has not arrived whole');
  return requestMessage.body();
}

/** The headers with the length of a body that is sent in one piece. */
function framedBy(headers: RawHeaders, length: number): RawHeaders {
  const framing = ['content-length', 'transfer-encoding', 'trailer', 'expect'];
  const others = pairs(headers).filter(([name]) => !framing.includes(name.toLowerCase()));
  const framed = length > 0 || valuesOf(headers, 'content-length').length > 0;
  return [...others.flat(), ...(framed ? ['Content-Length', String(length)] : [])];
}

function read<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new AgentProblem('bodyInvalid', explain(parsed.error, body));
}
