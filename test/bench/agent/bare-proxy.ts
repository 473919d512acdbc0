/** The least that a reverse proxy in Node can be: what the agent's tunnels are compared with. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

const upstream = new Pool(`http://127.0.0.1:${process.argv[2]}`);
const noBody = ['GET', 'HEAD'];

const server = createServer(async (request, response) => {
  const { connection: _, ...headers } = request.headers;
  const { url: path = '/', method = 'GET' } = request;
  try {
    const answer = await upstream.request({ path, method, headers, body: noBody.includes(method) ? null : request });
    response.writeHead(answer.statusCode, answer.headers);
    answer.body.pipe(response);
  } catch {
    response.writeHead(502).end();
  }
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
