import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import type { Refusal } from './refusal.ts';
import { lingerMs } from './timeouts.ts';

/** Answers where there is no request to reply to, and ends the connection, whose parser is lost. */
export function answerOn(socket: Socket, error: ConnectionError, refusal: () => Refusal): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  // As Node itself asks: of an answer that has begun, this would be taken for the rest.
  const { _httpMessage: begun } = socket as { readonly _httpMessage?: ServerResponse };
  if (begun?.headersSent) return void socket.destroy(error);
  const { status, body } = refusal();
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
