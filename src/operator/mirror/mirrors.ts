import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import type { CloudClient } from '../cloud/client.ts';
import type { KubeClient } from '../kube/client.ts';
import { isDenied } from '../kube/errors.ts';
import type { InstallationNames } from '../kube/installation-name.ts';
import { EndpointMirror, type EndpointMirrorOptions, type MirrorStatus } from './mirror.ts';
import { removeMirrored } from './remove.ts';
import { Successions } from './successions.ts';

export interface MirrorsOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'random' | 'uuid'> {
  readonly reader: KubeClient;
  /** For writes, on the leader only. */
  readonly client: KubeClient;
  readonly log: Log;
  /** What this installation is known by. */
  readonly installation: () => InstallationNames;
  /** What other installations mirrored is taken over. */
  readonly takeOver: boolean;
}

/** An account, as far as it is mirrored. */
export interface MirroredAccount {
  /** Unique in this operator. */
  readonly key: string;
  readonly client: Pick<CloudClient, 'endpoints'>;
}

/** What of an account is mirrored, and where to. */
export type MirrorSettings = Pick<EndpointMirrorOptions, 'namespace' | 'intervalMs' | 'protocols' | 'types' | 'owner'>;

interface Running {
  readonly account: MirroredAccount;
  /** The settings, to compare. */
  readonly settings: string;
  readonly intervalMs: number;
  readonly mirror: EndpointMirror;
  readonly stop: AbortController;
}

/** The endpoint mirrors that run in this process, by the key of their account; the leader's alone. */
export class Mirrors {
  readonly #options: MirrorsOptions;
  readonly #running = new Map<string, Running>();
  readonly #runs = new Successions();

  constructor(options: MirrorsOptions) {
    this.#options = options;
  }

  /** Mirrors with these settings from now on; nothing changes when it does already. */
  start(account: MirroredAccount, settings: MirrorSettings): void {
    const { key } = account;
    const wanted = JSON.stringify(settings);
    const running = this.#running.get(key);
    if (running?.account === account && running.settings === wanted) return;
    void this.stop(key);
    const mirror = new EndpointMirror({
      ...this.#options,
      installation: this.#options.installation(),
      ...settings,
      account: key,
      endpoints: account.client.endpoints,
    });
    const stop = new AbortController();
    this.#running.set(key, { account, settings: wanted, intervalMs: settings.intervalMs, mirror, stop });
    this.#runs.begin(key, () => mirror.run(stop.signal));
  }

  /** Resolves when what the mirror was writing is written; its ConfigMaps stay. */
  async stop(key: string): Promise<void> {
    this.#running.get(key)?.stop.abort();
    this.#running.delete(key);
    await this.#runs.end(key);
  }

  /** Stops the mirror, if it is of another client than this account's. */
  async stopOther(key: string, account: MirroredAccount): Promise<void> {
    const running = this.#running.get(key);
    if (running !== undefined && running.account !== account) await this.stop(key);
  }

  /** Stops the mirror and deletes its ConfigMaps; false where the operator may not do that. */
  async remove(key: string, namespace: string): Promise<boolean> {
    await this.stop(key);
    const { client, installation, takeOver } = this.#options;
    return removeMirrored(client, namespace, { installation: installation(), account: key }, takeOver).then(
      () => true,
      (error: unknown) => (isDenied(error) ? false : Promise.reject(error)),
    );
  }

  isRunning(key: string): boolean {
    return this.#running.has(key);
  }

  status(key: string): MirrorStatus | undefined {
    return this.#running.get(key)?.mirror.status();
  }

  /** Does not wait for the interval to end, as after a change of the account's key. */
  sweepNow(key: string): void {
    this.#running.get(key)?.mirror.sweepNow();
  }

  /** Of every account that is mirrored. */
  statuses(): readonly (MirrorStatus & { readonly account: string; readonly intervalMs: number })[] {
    return [...this.#running].map(([account, { mirror, intervalMs }]) => ({
      ...mirror.status(),
      account,
      intervalMs,
    }));
  }

  /** Of such accounts. */
  async close(isOver: (account: string) => boolean): Promise<void> {
    await Promise.all([...this.#runs.keys()].filter(isOver).map((key) => this.stop(key)));
  }
}
