import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Trouble } from '../../common/trouble.ts';
import type { KubeClient } from './client.ts';
import { isForbidden } from './errors.ts';
import { namespaceType } from './types.ts';

/** What an installation is known by. */
export interface InstallationNames {
  readonly name: string;
  /** Without the uid of its namespace, where that is in the name: the same where that cannot be read. */
  readonly plain: string;
}

/** Without what may be the uid of a namespace, of the name of any installation: one that a person gave may end so too. */
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
  readonly #trouble: Trouble;
  /** Undefined until the API server has said it. */
  #names: InstallationNames | undefined;

  /** @param given how somebody named it */
  constructor(given: string | undefined, options: InstallationNameOptions) {
    this.#options = options;
    this.#trouble = new Trouble(options.log, options.monotonic);
    this.#names = given === undefined ? undefined : { name: given, plain: given };
  }

  /** Empty until it is known, and never again: what is written says by it whose it is. */
  get = (): string => this.#names?.name ?? '';

  /** As `get`, without the uid of the namespace. */
  plain = (): string => this.#names?.plain ?? '';

  /** Waits until the API server says it; false when `signal` aborts before. Several may wait, each for as long as it needs it. */
  async find(signal: AbortSignal): Promise<boolean> {
    const { monotonic } = this.#options;
    while (this.#names === undefined && !signal.aborted) {
      const found = await this.#read(signal);
      this.#names ??= found;
      if (this.#names === undefined) await monotonic.sleep(retryMs, signal).catch(() => {});
    }
    return this.#names !== undefined;
  }

  async #read(signal: AbortSignal): Promise<InstallationNames | undefined> {
    const { client, namespace, log } = this.#options;
    try {
      const uid = (await client.get(namespaceType, { name: namespace }, { signal }))?.metadata.uid;
      this.#trouble.over('the namespace that this installation is known by was read');
      return { name: uid === undefined ? namespace : `${namespace}-${uid.slice(0, 8)}`, plain: namespace };
    } catch (error) {
      if (signal.aborted) return undefined;
      if (isForbidden(error)) {
        log.warn('may not get the namespace that this installation is known by: its name alone has to do', {
          namespace,
        });
        return { name: namespace, plain: namespace };
      }
      this.#trouble.failed('cannot read the namespace that this installation is known by', {
        namespace,
        error: String(error),
      });
      return undefined;
    }
  }
}
