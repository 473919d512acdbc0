import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import type { KubeClient } from './client.ts';
import { isForbidden } from './errors.ts';
import { namespaceType } from './types.ts';

/** Without the uid of a namespace, which a name lacks where that could not be read. */
export const plainName = (installation: string): string => installation.replace(/-[0-9a-f]{8}$/, '');

export interface InstallationNameOptions extends Pick<Runtime, 'monotonic'> {
  readonly client: Pick<KubeClient, 'get'>;
  /** The operator's own. */
  readonly namespace: string;
  readonly log: Log;
}

const retryMs = 5_000;

/**
 * What this installation of the operator is known by. When nobody named it: its namespace and the beginning of that one's
 * uid, which outlives restarts, upgrades and a reinstallation there, and is another one in a cluster that was set up from
 * the same files; where the namespace may not be read, its name alone has to do.
 */
export class InstallationName {
  readonly #options: InstallationNameOptions;
  /** Undefined until the API server has said it. */
  #name: string | undefined;

  /** @param given how somebody named it */
  constructor(given: string | undefined, options: InstallationNameOptions) {
    this.#options = options;
    this.#name = given;
  }

  /** Empty until it is known, and never again: what is written says by it whose it is. */
  get = (): string => this.#name ?? '';

  /** Waits until the API server says it; false when `signal` aborts before. Several may wait, each for as long as it needs it. */
  async find(signal: AbortSignal): Promise<boolean> {
    const { monotonic } = this.#options;
    while (this.#name === undefined && !signal.aborted) {
      const found = await this.#read(signal);
      this.#name ??= found;
      if (this.#name === undefined) await monotonic.sleep(retryMs, signal).catch(() => {});
    }
    return this.#name !== undefined;
  }

  async #read(signal: AbortSignal): Promise<string | undefined> {
    const { client, namespace, log } = this.#options;
    try {
      const uid = (await client.get(namespaceType, { name: namespace }, { signal }))?.metadata.uid;
      return uid === undefined ? namespace : `${namespace}-${uid.slice(0, 8)}`;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (isForbidden(error)) {
        log.warn('may not get the namespace that this installation is known by: its name alone has to do', {
          namespace,
        });
        return namespace;
      }
      log.warn('cannot read the namespace that this installation is known by', { namespace, error: String(error) });
      return undefined;
    }
  }
}
