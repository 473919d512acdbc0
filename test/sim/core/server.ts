import type { IncomingMessage, ServerResponse } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { MemoryResponse, memoryRequest } from '../../support/memory-message.ts';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export interface ServerRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer that goes on until either side ends it. */
export interface StreamedAnswer extends Omit<Answer, 'body'> {
  /** Once; `end` is called when the server ends it. */
  read(onData: (text: string) => void, end: () => void): void;
  /** The client has gone. */
  hangUp(): void;
}

/** Asks a server without a socket; its answer as it begins. Rejects where it hangs up before. */
export function ask(listener: Listener, host: string, request: ServerRequest): Promise<StreamedAnswer> {
  return new Promise((resolve, reject) => {
    const waiting: string[] = [];
    let ended = false;
    let onData = (text: string): void => void waiting.push(text);
    let onEnd = (): void => {};
    const decoder = new StringDecoder('utf8');
    const headers = { 'user-agent': 'sim', host, ...request.headers };
    const message = memoryRequest({ ...request, headers });
    const response = new MemoryResponse(message, {
      onHead: () =>
        resolve({
          status: response.statusCode,
          headers: textHeaders(response.getHeaders()),
          read: (take, end) => {
            for (const text of waiting.splice(0)) take(text);
            [onData, onEnd] = [take, end];
            if (ended) end();
          },
          hangUp: () => response.destroy(),
        }),
      onData: (chunk) => {
        const text = typeof chunk === 'string' ? chunk : decoder.write(chunk);
        if (text !== '') onData(text);
      },
      onEnd: () => {
        ended = true;
        onEnd();
        if (!response.headersSent) reject(new Error('the server hung up before it answered'));
      },
    });
    listener(message, response);
  });
}

/** As {@link ask}, with the whole body. */
export async function askWhole(listener: Listener, host: string, request: ServerRequest): Promise<Answer> {
  const { status, headers, read } = await ask(listener, host, request);
  let body = '';
  await new Promise<void>((resolve) =>
    read((text) => {
      body += text;
    }, resolve),
  );
  return { status, headers, body };
}

function textHeaders(headers: object): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) texts[name.toLowerCase()] = String(value);
  return texts;
}
