import type { AddressInfo, Server } from 'node:net';

export interface Address {
  /** Empty for every interface, of IPv6 and of IPv4. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

export interface Listening extends Address {
  /** `host:port`, as URLs have it. */
  readonly text: string;
  /** The same to connect to from here: of every interface it is loopback. */
  readonly local: string;
}

/** As messages name what parseAddress takes. */
export const addressForm = 'host:port, [IPv6 address]:port, or :port for every interface';

/** Undefined when it is none of these. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  if (port > 65_535) return undefined;
  return { host: match[1] ?? match[2] ?? '', port };
}

/** Resolves with the address it really has; rejects, naming the address, when it cannot be had. */
export async function listen(server: Server, address: Address): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    // Later ones are of connections that could not be accepted, which ends no server.
    server.on('error', (cause) => reject(cannotListen(address, cause)));
    server.listen({ ...address }, resolve);
  });
  return listeningAt(server, address);
}

/** Where a server listens that was to listen at `asked`. */
export function listeningAt(server: Server, asked: Address): Listening {
  const { address, port } = server.address() as AddressInfo;
  const host = asked.host === '' ? '' : address;
  return { host, port, text: textOf({ host, port }), local: textOf({ host: loopback[host] ?? host, port }) };
}

const loopback: Readonly<Record<string, string>> = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' };

/** What Node says of an address that cannot be had, in plain words. */
export function cannotListen(address: Address, cause: NodeJS.ErrnoException): Error {
  const why = cause.code === 'EADDRINUSE' ? 'the address is in use' : (cause.code ?? cause.message);
  return new Error(`cannot listen on ${textOf(address)}: ${why}`, { cause });
}

function textOf({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host || '0.0.0.0'}:${port}`;
}
