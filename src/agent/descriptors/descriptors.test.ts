import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { Descriptors, mostRefused } from './descriptors.ts';
import { guard } from './door.ts';

/** With room for 40 connections: 30 of clients, and 35 of all to local servers. */
const limit = 40 + 8 + 2 * mostRefused + 40;

class Connection extends EventEmitter {
  destroyed = false;

  /** As a socket: the descriptor is free at once, and the event comes later. */
  destroy(): void {
    this.destroyed = true;
    setImmediate(() => this.emit('close'));
  }
}

const some = (count: number) => Array.from({ length: count }, () => new Connection());

function room(options: { readonly patienceMs?: number } = {}) {
  const logged: unknown[] = [];
  const log = { ...silentLog, warn: (...line: unknown[]) => void logged.push(line) };
  const time = { now: 0 };
  const descriptors = new Descriptors({ limit, ticks: () => time.now, log, ...options });
  const opened: Connection[] = [];
  let givenUp = 0;
  const open = (isOver = () => false) =>
    descriptors.open({
      isOver,
      open: () => {
        if (isOver()) return undefined;
        const connection = new Connection();
        opened.push(connection);
        return connection;
      },
      giveUp: () => {
        givenUp += 1;
      },
    });
  return { descriptors, time, logged, opened, open, givenUp: () => givenUp };
}

test('without a limit everybody is admitted', () => {
  const descriptors = new Descriptors({ limit: undefined, ticks: () => 0, log: silentLog });
  expect(some(10_000).every((client) => descriptors.admitClient(client))).toBe(true);
  expect(descriptors.isCrowded).toBe(false);
});

test('clients get three quarters of the room, so that there is some for their requests', () => {
  const { descriptors, opened, open } = room();
  expect(some(50).filter((client) => descriptors.admitClient(client))).toHaveLength(30);
  for (let at = 0; at < 20; at += 1) open();
  expect(opened).toHaveLength(5);
});

test('ports that are listened on take from the room of all, so that clients do not wait for what they have themselves', () => {
  const { descriptors, opened, open } = room();
  for (const server of some(8)) descriptors.listens(server);
  expect(some(50).filter((client) => descriptors.admitClient(client))).toHaveLength(24);
  for (let at = 0; at < 20; at += 1) open();
  expect(opened).toHaveLength(4);
});

test('a port may be had while that leaves the process, the API and 8 connections what they need', () => {
  const { descriptors } = room();
  const servers = some(limit);
  const had = servers.filter((server) => {
    if (!descriptors.hasPort) return false;
    descriptors.listens(server);
    return true;
  });
  expect(had).toHaveLength(limit - 40 - 8 - 8);
  expect(some(50).filter((client) => descriptors.admitClient(client))).toHaveLength(6);
});

test('connections to local servers leave an eighth of it to clients, which can wait', () => {
  const { descriptors, opened, open } = room();
  for (let at = 0; at < 50; at += 1) open();
  expect(opened).toHaveLength(35);
  expect(some(50).filter((client) => descriptors.admitClient(client))).toHaveLength(5);
});

test('requests wait, the first first, and take what becomes free', async () => {
  const { descriptors, opened, open } = room();
  const clients = some(30);
  for (const client of clients) descriptors.admitClient(client);
  for (let at = 0; at < 7; at += 1) open();
  expect([opened.length, descriptors.isAwaited]).toEqual([5, true]);
  clients[0]?.destroy();
  opened[0]?.destroy();
  await turn();
  await turn();
  expect([opened.length, descriptors.isAwaited]).toEqual([7, false]);
});

test('who waits too long is told, and who has gone is passed over', async () => {
  const { opened, open, givenUp } = room({ patienceMs: 20 });
  for (let at = 0; at < 36; at += 1) open();
  while (givenUp() === 0) await turn();
  let gone = false;
  open(() => gone);
  open();
  gone = true;
  opened[0]?.destroy();
  await turn();
  await turn();
  expect([opened.length, givenUp()]).toEqual([36, 1]);
});

test('not more wait than there is room for', () => {
  const { open, givenUp } = room();
  for (let at = 0; at < 35; at += 1) open();
  let gone = false;
  for (let at = 0; at < 40; at += 1) open(() => gone);
  open();
  expect(givenUp()).toBe(1);
  gone = true;
  open();
  expect(givenUp()).toBe(1);
});

test('the API has some for itself when tunnels have all, and shares with their clients what they leave', () => {
  const { descriptors } = room();
  for (const holder of some(40)) descriptors.hold(holder);
  expect(some(20).filter((client) => descriptors.admitToApi(client))).toHaveLength(8);
  const other = room().descriptors;
  expect(some(60).filter((client) => other.admitToApi(client))).toHaveLength(38);
  expect(other.admitClient(new Connection())).toBe(false);
});

test('a connection that needs two is refused where there is one', () => {
  const { descriptors, open } = room();
  for (let at = 0; at < 33; at += 1) open();
  const [first, second] = some(2) as [Connection, Connection];
  expect(descriptors.admitPair(first)).toBe(true);
  expect(descriptors.admitPair(second)).toBe(false);
});

describe('when there are none left', () => {
  test('what is idle is closed, the last that was told of first', () => {
    const { descriptors, open, opened } = room();
    const idle = some(10);
    for (const client of idle) descriptors.admitClient(client);
    const closed: string[] = [];
    const closing = (name: string, those: readonly Connection[]) => () => {
      closed.push(name);
      for (const each of those) each.destroy();
    };
    descriptors.onShortage(closing('clients', idle));
    const forget = descriptors.onShortage(closing('a pool that is gone', []));
    descriptors.onShortage(closing('a pool', []));
    forget();
    for (let at = 0; at < 26; at += 1) open();
    expect(closed).toEqual(['a pool', 'clients']);
    expect(opened).toHaveLength(26);
  });

  test('what becomes idle while a request waits is closed for it', async () => {
    const { descriptors, time, open, opened } = room();
    for (let at = 0; at < 36; at += 1) open();
    expect(opened).toHaveLength(35);
    descriptors.onShortage(() => opened[0]?.destroy());
    time.now = 1_000;
    while (opened.length < 36) await sleep(20);
    expect(descriptors.isAwaited).toBe(false);
  });

  test('it is not looked for again and again', () => {
    const { descriptors, time } = room();
    let looked = 0;
    descriptors.onShortage(() => {
      looked += 1;
    });
    for (const holder of some(40)) descriptors.hold(holder);
    for (const now of [0, 50, 99, 100]) {
      time.now = now;
      expect(descriptors.admitClient(new Connection())).toBe(false);
    }
    expect(looked).toBe(2);
  });

  test('the log says so, not more than every 10 s', () => {
    const { descriptors, time, logged } = room();
    for (const holder of some(40)) descriptors.hold(holder);
    for (const now of [0, 1, 9_999, 10_000]) {
      time.now = now;
      descriptors.admitClient(new Connection());
    }
    const message = 'connections are refused: the process may not open more files';
    expect(logged).toEqual([
      [message, { limit, refused: 1 }],
      [message, { limit, refused: 3 }],
    ]);
  });

  test('who may not stay is answered when it asks, and the first unasked when many come', async () => {
    const { descriptors } = room();
    const server = createServer((_, response) => response.end('served'));
    let admitted = true;
    guard(server, {
      descriptors,
      admit: () => admitted,
      refused: () => ({ contentType: 'text/plain', body: 'no room' }),
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const arrive = async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    };
    const ask = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx';
    const stays = await arrive();
    stays.write(ask);
    expect(await text(stays)).toMatch(/served$/);
    admitted = false;
    const asking = await arrive();
    asking.write(ask);
    expect(await text(asking)).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*\r\n\r\nno room$/);
    const silent = [];
    for (let at = 0; at <= mostRefused; at += 1) silent.push(await arrive());
    expect(await text(silent[0] as (typeof silent)[0])).toMatch(/no room$/);
    // The others after a while.
    expect(await Promise.all(silent.slice(1).map(text))).toEqual(
      Array.from({ length: mostRefused }, () => expect.stringMatching(/no room$/)),
    );
    server.close();
    await once(server, 'close');
  });
});
