/** The local server behind every proxy: `/<n>` answers n bytes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const bodies = new Map<string, Buffer>();

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  const body = bodies.get(path) ?? Buffer.alloc(Number(path.slice(1)), 'x');
  bodies.set(path, body);
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
