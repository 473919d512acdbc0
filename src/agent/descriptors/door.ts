import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Descriptors, mostRefused } from './descriptors.ts';

/** How long a client may take to ask, and then to read why it gets nothing. */
const lingerMs = 1_000;
/** How long a client may say nothing where others want its descriptor. */
const silentMs = 2_000;

export interface Refused {
  readonly contentType: string;
  readonly body: string;
}

export interface Door {
  readonly descriptors: Descriptors;
  readonly admit: (client: Socket) => boolean;
  /** What a client is told whose connection may not stay. */
  readonly refused: () => Refused;
}

/**
 * Stands before a server of HTTP: it is given the connections that may stay, and the others are answered 503 when they
 * ask. Where many come at once, the first of those is answered and closed unasked, so that the next can be taken.
 * Returns what answers and closes them all.
 */
export function guard(server: Server, { descriptors, admit, refused }: Door): () => void {
  const serve = server.listeners('connection');
  const atDoor = new Map<Socket, () => void>();
  const silent = new SilentClients();
  const refuse = (client: Socket) => {
    const leave = dismiss(client, textOf(refused()));
    atDoor.set(client, leave);
    client.once('close', () => atDoor.delete(client));
    const [first] = atDoor.values();
    if (atDoor.size > mostRefused) first?.();
  };
  server.removeAllListeners('connection').on('connection', (client: Socket) => {
    if (!admit(client)) {
      refuse(client);
      return;
    }
    silent.add(client);
    for (const each of serve) Reflect.apply(each, server, [client]);
  });
  descriptors.onShortage(() => {
    server.closeIdleConnections();
    silent.close();
  });
  return () => {
    for (const leave of atDoor.values()) leave();
  };
}

/** Those that connected some time ago and have asked nothing yet, which Node takes for busy. */
class SilentClients {
  readonly #clients = new Set<Socket>();

  /** Not at once: its request may be on its way. */
  add(client: Socket): void {
    const timer = setTimeout(() => client.bytesRead === 0 && this.#clients.add(client), silentMs).unref();
    client.once('close', () => {
      clearTimeout(timer);
      this.#clients.delete(client);
    });
  }

  close(): void {
    for (const client of this.#clients) if (client.bytesRead === 0) client.destroy();
    this.#clients.clear();
  }
}

/** Answers when it is asked, and closes when it was read. Returns what does both at once. */
function dismiss(client: Socket, text: string): () => void {
  let isAnswered = false;
  const answer = () => {
    if (!isAnswered) client.end(text);
    isAnswered = true;
  };
  // What else it sends is read: closed with data unread, the connection would be reset and the answer lost.
  client.on('error', () => {}).on('data', answer);
  const leave = () => {
    answer();
    client.destroy();
  };
  const timer = setTimeout(leave, lingerMs);
  client.once('close', () => clearTimeout(timer));
  return leave;
}

function textOf({ contentType, body }: Refused): string {
  const head = [
    `HTTP/1.1 503 ${STATUS_CODES[503]}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Retry-After: 1',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
