import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that the system gives to those who ask for a free one. */
const [first, last] = [20_000, 30_000];

export interface Ports {
  readonly api: number;
  readonly etcd: number;
  release(): Promise<void>;
}

/** Two free ports that no other process gets from here until they are released: who listens on the one before owns them. */
export async function claimPorts(): Promise<Ports> {
  for (let port = first; port < last; port += 3) {
    const claim = await listen(port);
    if (claim === undefined) continue;
    const [api, etcd] = [port + 1, port + 2];
    if ((await isFree(api)) && (await isFree(etcd))) return { api, etcd, release: () => close(claim) };
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
