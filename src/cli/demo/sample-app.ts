import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SampleApp {
  /** As a tunnel's `addr`. */
  readonly addr: string;
  close(): Promise<void>;
}

/** A local server to forward to: it says what it was asked for. */
export async function startSampleApp(): Promise<SampleApp> {
  const server = createServer(({ method, url }, response) => {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`Hello from the sample app: ${method} ${url}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { addr: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
