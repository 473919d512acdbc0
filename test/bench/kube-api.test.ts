import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { main } from '../support/main.ts';
import { measureDelays } from './kube-delays.ts';
import { fill, type KubeProcess, sender, startKubeProcess } from './kube-process.ts';

/*
 * Bounds that a busy machine keeps and that a mistake of the usual kind (objects kept twice, an event made anew for
 * each watcher) does not; `node test/bench/kube-api.ts` prints the figures.
 */

let server: KubeProcess;
beforeAll(async () => {
  server = await startKubeProcess(main);
});
afterAll(() => server.stop());

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('2,000 custom resources of 1.5 KB take little memory and CPU time', async () => {
  const client = sender(server);
  await fill(client.send, 200, 1_536);
  const [memory, cpu] = [await server.memory(), await server.cpuTime()];
  await fill(client.send, 2_000, 1_536, 'more');
  expect((await server.memory()) - memory).toBeLessThan(60);
  expect(((await server.cpuTime()) - cpu) / 2_000).toBeLessThan(1.5);
  await client.close();
});

onLinux('an event reaches 50 watchers at little cost', async () => {
  const delays = await measureDelays(server, { watchers: 50, perSecond: 100, seconds: 2 });
  expect(delays.events).toBeGreaterThanOrEqual(50 * 50);
  // Where the machine is busy the writes themselves take their time.
  expect(delays.p50).toBeLessThan(Math.max(250, 3 * delays.writeP50));
  expect(delays.cpuPerWrite).toBeLessThan(6);
});
