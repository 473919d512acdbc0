import { setTimeout as sleep } from 'node:timers/promises';
import type { TestCloud } from '../support/cloud-api.ts';
import type { GateProxy, ProxiedRequest, ProxyAnswer } from '../support/gate-proxy.ts';
import type { Random } from './random.ts';

const cloudFaults = [
  'status=500',
  'status=503 retry-after=1',
  'status=429 retry-after=1',
  'status=409',
  'reset',
  // Done, and nobody is told: what most of the rest is about.
  'drop',
  'drop',
  'drop',
  'drop',
  'hang',
  'html',
  'malformed',
  'latency=700ms',
  'latency=2s',
] as const;
const cloudCalls = [
  'POST /**',
  'POST /**',
  'POST /**',
  'PUT /**',
  'PATCH /**',
  'DELETE /**',
  'GET /**',
  '* /**',
] as const;

/** The cloud answers some calls wrongly, late, or not at all, for a while. */
export async function troubleCloud(cloud: TestCloud, random: Random, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    await sleep(random.between(0, 1_500));
    const which = random.chance(0.5) ? `count=${random.whole(1, 3)}` : 'probability=0.5';
    cloud.fault(`${random.pick(cloudCalls)} ${random.pick(cloudFaults)} ${which}`);
    await sleep(random.between(100, 1_500));
    cloud.clearFaults();
  }
}

type Trouble = (request: ProxiedRequest, random: Random) => ProxyAnswer | 'late' | undefined;

const isWatch = ({ path }: ProxiedRequest) => path.includes('watch=true');
const isWrite = ({ method }: ProxiedRequest) => method !== 'GET';

const kubeTroubles: readonly [Trouble, ...Trouble[]] = [
  (request) => (isWrite(request) ? status(409, 'Conflict') : undefined),
  (request) => (isWatch(request) ? status(410, 'Expired') : undefined),
  (request) => (isWatch(request) ? undefined : status(500, 'InternalError')),
  () => status(429, 'TooManyRequests', { retryAfterSeconds: 1 }),
  () => status(503, 'ServiceUnavailable'),
  () => 'late',
];

function status(code: number, reason: string, details: object = {}): ProxyAnswer {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: 'injected', details };
  return { status: code, body };
}

/** A Kubernetes API that refuses some requests, is slow, loses answers and breaks watches. */
export class KubeTrouble {
  readonly #random: Random;
  #trouble: Trouble | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** For the proxy. */
  readonly intercept = async (request: ProxiedRequest): Promise<ProxyAnswer | undefined> => {
    const trouble = this.#random.chance(0.4) ? this.#trouble?.(request, this.#random) : undefined;
    if (trouble !== 'late') return trouble;
    await sleep(this.#random.between(20, 800));
    return undefined;
  };

  async run(proxy: GateProxy, until: AbortSignal): Promise<void> {
    const random = this.#random;
    while (!until.aborted) {
      await sleep(random.between(0, 1_500));
      const kind = random.next();
      if (kind < 0.15) proxy.cut();
      // Done, and nobody is told.
      else if (kind < 0.4) void proxy.hold('after', isWrite).then(() => proxy.cut());
      else this.#trouble = random.pick(kubeTroubles);
      await sleep(random.between(100, 1_200));
      this.#trouble = undefined;
    }
  }
}
