import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudApiOptions } from '../../src/reference/cloud-api/server.ts';
import {
  type GateProxy,
  kubeconfigThrough,
  type ProxiedRequest,
  type ProxyAnswer,
  startGateProxy,
} from '../support/gate-proxy.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import type { Prometheus } from './prometheus.ts';

/** What the API server is made to answer in place of its own; undefined for what it would. */
export type Intercept = (request: ProxiedRequest) => Promise<ProxyAnswer | undefined>;

/** A release of its own, as a scrape names it: operators from source, a Kubernetes API and a cloud. */
export class Release {
  readonly labels: Readonly<Record<string, string>>;
  readonly world: World;
  readonly namespace: string;
  /** What the operators hear of the API server while it is set. */
  intercept: Intercept = async () => undefined;
  readonly #prometheus: Prometheus;
  readonly #proxies: { readonly proxy: GateProxy; readonly path: string; remove(): void }[] = [];
  readonly #ended = new AbortController();
  readonly #others = new AsyncDisposableStack();
  readonly #scraped = new Map<OperatorProcess, string>();

  private constructor(job: string, world: World, namespace: string, prometheus: Prometheus) {
    this.labels = { job, namespace: 'edge-system' };
    this.world = world;
    this.namespace = namespace;
    this.#prometheus = prometheus;
  }

  static async start(job: string, prometheus: Prometheus, cloud: Partial<CloudApiOptions> = {}): Promise<Release> {
    const world = await startWorld(cloud, { scripts: '' });
    return new Release(job, world, await world.namespace(), prometheus);
  }

  get cloud() {
    return this.world.cloud;
  }

  /** Starts an operator that checks for drift each second, and waits until it is scraped. */
  async start(args: readonly string[] = []): Promise<OperatorProcess> {
    const operator = this.world.startOperator(['--resync-interval', '1s', ...args]);
    const address = new URL(await operator.url('metrics')).host;
    this.#scraped.set(operator, address);
    this.#tell();
    await this.#seen(address);
    return operator;
  }

  /** As a pod that is gone: nothing of it is scraped any more. */
  async end(operator: OperatorProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await operator.stop(signal);
    this.forget(operator);
  }

  /** It has ended by itself. */
  forget(operator: OperatorProcess): void {
    this.#scraped.delete(operator);
    this.#tell();
  }

  /** Flags for an operator that reaches the API server by a way that {@link intercept} is asked on. */
  async throughProxy(intercept: Intercept = (request) => this.intercept(request)) {
    const proxy = await startGateProxy(this.world.kube.url, { intercept });
    const config = kubeconfigThrough(proxy, this.world.kube.kubeconfig);
    this.#proxies.push({ proxy, ...config });
    return { proxy, args: ['--kubeconfig', config.path] };
  }

  async bots(count: number, name = 'bot'): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    await Promise.all(names.map((each) => this.bot(each)));
  }

  bot(name: string, spec: object = {}) {
    return this.world.apply('BotUser', this.namespace, name, { name, ...spec });
  }

  async readyBots(count: number): Promise<void> {
    await this.bots(count);
    for (const bot of await this.world.list('BotUser', this.namespace)) await this.world.reason(bot, 'Available');
  }

  /** Somebody asks for a look at each resource of the kind again and again; resolves to how to stop that. */
  asking(kind: string, everyMs: number): () => Promise<void> {
    return this.again(everyMs, async (turn) => {
      for (const object of await this.world.list(kind, this.namespace))
        await this.world.annotate(object, { 'edge-operator.dev/reconcile-at': `turn ${turn}` });
    });
  }

  /** Does so again and again until what it answers is called, or the release is stopped. */
  again(everyMs: number, act: (turn: number) => Promise<unknown>): () => Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#ended.signal]);
    const run = async () => {
      for (let turn = 0; !signal.aborted; turn += 1) {
        // A write may meet the operator's own.
        await act(turn).catch(() => {});
        await sleep(everyMs, undefined, { signal }).catch(() => {});
      }
    };
    const running = run();
    return async () => {
      stop.abort();
      await running;
    };
  }

  /** Ends with the release, however that ends. */
  defer(end: () => Promise<unknown>): void {
    this.#others.defer(async () => void (await end()));
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    try {
      await this.#others.disposeAsync();
      await this.world.stop();
    } finally {
      for (const { proxy, remove } of this.#proxies) {
        await proxy.close();
        remove();
      }
    }
  }

  #tell(): void {
    this.#prometheus.scrape(this.labels, [...this.#scraped.values()]);
  }

  #seen(address: string): Promise<boolean> {
    const query = `up{job="${this.labels.job}",instance="${address}"} == 1`;
    return until(`the scrape of ${address}`, () => this.#prometheus.has(query));
  }
}

/** As the API server says no. */
export function refusal(status: number, reason: string): ProxyAnswer {
  return {
    status,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code: status, message: reason },
  };
}
