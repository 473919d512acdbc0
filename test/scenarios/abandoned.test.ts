import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { Dispatcher } from 'undici';
import type { Clock } from '../../src/common/clock.ts';
import { silentLog } from '../../src/common/log.ts';
import type { Runtime } from '../../src/common/runtime.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { parseSettings } from '../../src/operator/settings.ts';
import { until } from '../support/until.ts';

/* A simulator kills an operator by never letting it run again: then nothing may be left of it. */

const named = [{ name: 'x', context: { cluster: 'x', user: 'x' }, cluster: { server: 'http://kube' }, user: {} }];
const kubeconfig = JSON.stringify({ 'current-context': 'x', contexts: named, clusters: named, users: named });

/** Never answers; a request ends when its signal aborts. */
class Silence extends Dispatcher {
  requests = 0;

  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.requests++;
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      pause: () => {},
      resume: () => {},
      abort: (reason: Error) => handler.onResponseError?.(controller, reason),
    };
    handler.onRequestStart?.(controller, {});
    return true;
  }
}

/** Its sleeps end when their signal aborts, and never else. */
const stopped: Clock = {
  now: () => 1_000_000,
  sleep: (_, signal) =>
    new Promise((_, reject) => {
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  timeout: () => new AbortController().signal,
};

function start(leaderElect: boolean) {
  const dispatcher = new Silence();
  let ids = 0;
  const runtime: Runtime = {
    clock: stopped,
    monotonic: stopped,
    random: () => 0.5,
    uuid: () => `id-${ids++}`,
    hostname: 'nowhere',
    dispatcher,
    readFile: async () => kubeconfig,
    env: () => undefined,
  };
  const addresses = { kubeconfig: '/config', apiUrl: 'http://cloud', metricsAddr: '0', healthAddr: '0' };
  const settings = parseSettings({ ...addresses, leaderElect });
  const stop = new AbortController();
  const running = runOperator({ settings, apiKey: 'key', log: silentLog, runtime }, stop.signal);
  return { dispatcher, stop, running };
}

/** Timers, connections, files and names to look up; not what the runner of the tests talks by. */
function resources(): readonly string[] {
  const kinds = process.getActiveResourcesInfo().filter((kind) => /Timeout|TCP|TLS|FS|AddrInfo/.test(kind));
  return kinds.toSorted();
}

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

async function abandoned(leaderElect: boolean): Promise<WeakRef<Silence>> {
  const { dispatcher } = start(leaderElect);
  await until('the first requests', () => dispatcher.requests > 5);
  return new WeakRef(dispatcher);
}

test.each([false, true])(
  'an operator that never runs again is collected whole (leader election: %p)',
  async (elect) => {
    const collect = collector();
    const dispatcher = await abandoned(elect);
    await until('the operator to be collected', () => {
      collect();
      return dispatcher.deref() === undefined;
    });
  },
);

test.each([false, true])('an operator holds no resource of the process (leader election: %p)', async (elect) => {
  const before = resources();
  const { dispatcher, stop, running } = start(elect);
  await until('the first requests', () => dispatcher.requests > 5);
  expect(resources()).toEqual(before);
  stop.abort();
  await running;
  expect(resources()).toEqual(before);
});
