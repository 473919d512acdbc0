/**
 * Bytes through a tcp tunnel, there and back at once, checksummed, with the agent's memory before, at most and after:
 * `node test/bench/agent/tcp.ts [megabytes]`.
 */
import { createHash } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startChild } from './child.ts';

const megabytes = Number(process.argv[2] ?? 1_000);
const part = Buffer.alloc(1_000_000, 'edge operator');

const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
const port = String((echo.address() as AddressInfo).port);
const agent = await startChild<{ url: string }>('agent-process.ts', port, port);
const { public_url: url } = (await (await fetch(`${agent.up.url}/api/tunnels/db`)).json()) as { public_url: string };

const residentMB = async () => (await agent.ask<{ memory: NodeJS.MemoryUsage }>({})).memory.rss / 1e6;
const before = await residentMB();
let most = before;
let sampling = true;
const sampler = (async () => {
  while (sampling) {
    most = Math.max(most, await residentMB());
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
})();

const [sent, received] = [createHash('sha256'), createHash('sha256')];
const socket = connect(Number(new URL(url).port), '127.0.0.1');
const start = performance.now();
const sending = pipeline(Readable.from(parts()), socket, { end: true });
for await (const chunk of socket) received.update(chunk);
await sending.catch(() => {});
const seconds = (performance.now() - start) / 1_000;
sampling = false;
await sampler;

const same = sent.digest('hex') === received.digest('hex');
console.log(
  `${megabytes} MB there and back in ${seconds.toFixed(1)} s: ${(megabytes / seconds).toFixed(0)} MB/s each way`,
);
console.log(`checksums ${same ? 'equal' : 'DIFFER'}`);
console.log(
  `memory of the agent: ${before.toFixed(0)} MB before, at most ${most.toFixed(0)} MB, ${(await residentMB()).toFixed(0)} MB after`,
);
agent.stop();
echo.close();
process.exitCode = same ? 0 : 1;

function* parts(): Generator<Buffer> {
  for (let count = 0; count < megabytes; count += 1) {
    sent.update(part);
    yield part;
  }
}
