import type { AddressInfo, Server } from 'node:net';

export interface Address {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

export interface Listening extends Address {
  /** `host:port`, as URLs have it. */
  readonly text: string;
}

/** Resolves with the address it really has; rejects, naming the address, when it cannot be had. */
export async function listen(server: Server, { host, port }: Address): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the address is in use' : (cause.code ?? cause.message);
      reject(new Error(`cannot listen on ${textOf(host, port)}: ${why}`, { cause }));
    });
    server.listen({ host, port }, resolve);
  });
  const { address, port: actual } = server.address() as AddressInfo;
  return { host: address, port: actual, text: textOf(address, actual) };
}

function textOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
