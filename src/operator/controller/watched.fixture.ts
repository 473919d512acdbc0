import { silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { FakeApi, until, type Widget, widgetType } from '../kube/fake-api.fixture.ts';
import { Informer, type InformerOptions } from './informer.ts';

/** A fake API server, and informers of its widgets. */
export class Watched {
  readonly api: FakeApi;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  private constructor(api: FakeApi) {
    this.api = api;
  }

  static async start(): Promise<Watched> {
    return new Watched(await FakeApi.start());
  }

  /** An informer with its first list, and what its handlers are told. */
  async synced(options: Partial<InformerOptions<Widget>> = {}) {
    const informer = await this.informer(options);
    const told: string[] = [];
    informer.onChange(({ type, object, initial }) => {
      told.push(`${type} ${object.metadata.name} ${object.spec?.size ?? '-'}${initial ? ' initial' : ''}`);
    });
    this.#running.push(informer.run(this.#stop.signal));
    await informer.whenSynced(this.#stop.signal);
    await until('the watch', () => this.api.openWatches === 1);
    return { informer, told };
  }

  /** That does not run. */
  async informer(options: Partial<InformerOptions<Widget>> = {}): Promise<Informer<Widget>> {
    const client = await this.api.client({ ...systemRuntime, ...options });
    const backoff = { minMs: 10, maxMs: 40 };
    return new Informer<Widget>({ ...systemRuntime, client, type: widgetType, log: silentLog, backoff, ...options });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.api.stop();
  }
}
