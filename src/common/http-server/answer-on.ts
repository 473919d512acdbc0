import { STATUS_CODES } from 'node:http';
import type { ConnectionError } from 'fastify';
import type { Served } from './in-turn.ts';
import type { Refusal } from './refusal.ts';
import { lingerMs } from './timeouts.ts';

/**
 * Answers where there is no request to reply to, behind what is still to be answered, and ends the connection, whose
 * parser is lost. A request that has its answer gets no other.
 */
export function answerOn(socket: Served, error: ConnectionError, refusal: () => Refusal): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const { _httpMessage: due, parser } = socket;
  if (due?.req.complete) {
    due.once('close', () => answerOn(socket, error, refusal));
    // What else comes fails as well.
    return void socket.pause();
  }
  // Of an answer that has begun, this would be taken for the rest.
  if (due?.headersSent) return void socket.destroy(error);
  const isAnswered = !due && parser?.incoming?.complete === false;
  socket.resume();
  socket.end(isAnswered ? '' : textOf(refusal()));
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function textOf({ status, body }: Refusal): string {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
