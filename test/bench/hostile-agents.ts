import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemRuntime } from '../../src/common/runtime.ts';
import { Turns } from '../../src/operator/agent-client/turns.ts';
import { AgentConnection } from '../../src/operator/kinds/agents/registry/agent-connection.ts';

/*
 * What agents that answer as much as they may cost the other tenants of the process that looks at them:
 * `node test/bench/hostile-agents.ts [seconds]`.
 */

const hostile = 30;
/** As often as whoever may write a resource asks for. */
const everyMs = 3_000;

const rates = { count: 0, rate1: 0, rate5: 0, rate15: 0, p50: 0, p90: 0, p95: 0, p99: 0 };
const tunnel = (name: string, more: object = {}) => ({
  name,
  uri: `/api/tunnels/${name}`,
  public_url: `http://${name}.localhost`,
  proto: 'http',
  config: { addr: '8080', inspect: true, ...more },
  metrics: { conns: { ...rates, gauge: 0 }, http: rates },
});
const wide = (name: string, keys: number) =>
  tunnel(name, Object.fromEntries(Array.from({ length: keys }, (_, key) => [`${(key * 7_919) % keys} and more`, key])));

/** Each just within 2 MiB and 65,536 values. */
const shapes: readonly object[][] = [
  [wide('web', 65_000)],
  Array.from({ length: 8 }, (_, at) => wide(`web-${at}`, 8_000)),
  Array.from({ length: 65_000 }, () => 1 as unknown as object),
  Array.from({ length: 2_200 }, (_, at) => tunnel(`web-${at}`)),
];

async function serve(): Promise<void> {
  const bodies = shapes.map((tunnels) => Buffer.from(JSON.stringify({ tunnels, uri: '' })));
  const small = Buffer.from(JSON.stringify({ tunnels: [tunnel('shop')], uri: '' }));
  const server = createServer(({ url = '' }, response) => {
    const shape = /^\/(\d+)/.exec(url)?.[1];
    response.end(shape === undefined ? small : bodies[Number(shape) % bodies.length]);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

const turns = new Turns(systemRuntime.monotonic);

function open(url: string, namespace = 'hostile'): AgentConnection {
  const { clock, monotonic, random } = systemRuntime;
  return new AgentConnection({
    url,
    userAgent: 'bench',
    clock,
    monotonic,
    random,
    turns: turns.of(namespace),
    retryMs: 15_000,
  });
}

async function measure(server: ChildProcess, seconds: number): Promise<void> {
  const port = await new Promise<number>((resolve) => server.once('message', (message) => resolve(Number(message))));
  const stop = AbortSignal.timeout(seconds * 1_000);
  const call = { priority: 'resync', signal: stop } as const;
  let looks = 0;
  const look = async (at: number) => {
    const agent = open(`http://127.0.0.1:${port}/${at}`);
    await sleep((at / hostile) * everyMs);
    while (!stop.aborted) {
      await agent.find('none', performance.now(), call).then(
        () => looks++,
        () => looks++,
      );
      await sleep(everyMs);
    }
  };
  const honest = open(`http://127.0.0.1:${port}`, 'honest');
  const latencies: number[] = [];
  const ask = async () => {
    while (!stop.aborted) {
      const since = performance.now();
      await honest.find('shop', since, call).catch(() => {});
      latencies.push(performance.now() - since);
      await sleep(100);
    }
  };
  const silence = monitorEventLoopDelay({ resolution: 5 });
  silence.enable();
  const before = process.cpuUsage();
  // What other processes of the machine take is no silence of this one's making.
  let mostMs = 0;
  let last = process.cpuUsage();
  const probe = setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    mostMs = Math.max(mostMs, (user + system) / 1_000);
    last = process.cpuUsage();
  }, 5);
  await Promise.all([ask(), ...Array.from({ length: hostile }, (_, at) => look(at))]);
  clearInterval(probe);
  const { user, system } = process.cpuUsage(before);
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => `${sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(0)} ms`;
  console.log(`CPU: ${((user + system) / seconds / 10_000).toFixed(0)}% of a core, for ${looks} looks in ${seconds} s`);
  console.log(
    `longest silence of the event loop: ${(silence.max / 1e6).toFixed(0)} ms; p99 ${(silence.percentile(99) / 1e6).toFixed(0)} ms`,
  );
  console.log(`most that was worked in one go, by CPU time: ${mostMs.toFixed(0)} ms`);
  console.log(`a look at an honest agent: p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`);
}

if (process.send !== undefined) await serve();
else {
  const server = fork(import.meta.filename);
  await measure(server, Number(process.argv[2] ?? 60));
  server.kill();
  process.exit();
}
