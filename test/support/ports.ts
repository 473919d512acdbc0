import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that the system gives to those who ask for a free one. */
const [first, last] = [20_000, 30_000];
const block = 32;

export interface Ports {
  readonly ports: readonly number[];
  release(): Promise<void>;
}

/**
 * Up to 31 free ports, which stay free while nobody listens on them: no other process gets them from here until they
 * are released. Who listens on the first port of a block owns the block.
 */
export async function claimPorts(count: number): Promise<Ports> {
  for (let port = first; port < last; port += block) {
    const claim = await listen(port);
    if (claim === undefined) continue;
    const ports = Array.from({ length: count }, (_, index) => port + 1 + index);
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return { ports, release: () => close(claim) };
    await close(claim);
  }
  throw new Error(`no free ports from ${first} to ${last}`);
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1').unref();
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server !== undefined) await close(server);
  return server !== undefined;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
