import type { Clock } from '../../../../common/clock.ts';
import { isKey, keyForm } from '../../../../common/credential/key.ts';
import type { Log } from '../../../../common/log.ts';
import { Informer } from '../../../controller/informer.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { KubeObject, ResourceType } from '../../../kube/types.ts';
import { DependencyError } from '../../../reconcile/outcome.ts';

/** The first look at a Secret takes no longer than this; then it counts as one that cannot be read. */
const firstReadMs = 10_000;

const secretType: ResourceType = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface SecretKeyOptions {
  readonly reader: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly namespace: string;
  readonly name: string;
  /** In the Secret's data. */
  readonly key: string;
  /** The Secret was read for the first time, or has changed. */
  readonly onChange: () => void;
}

/** An API key in a Secret, followed by a watch on just that Secret. */
export class SecretKey {
  readonly #options: SecretKeyOptions;
  readonly #informer: Informer<Secret>;
  readonly #stop = new AbortController();

  constructor(options: SecretKeyOptions) {
    const { reader, clock, log, namespace, name, key } = options;
    this.#options = options;
    this.#informer = new Informer<Secret>({
      client: reader,
      type: secretType,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      clock,
      log,
      transform: ({ data, ...secret }) =>
        data?.[key] === undefined ? secret : { ...secret, data: { [key]: data[key] } },
    });
    this.#informer.onChange(() => options.onChange());
    void this.#informer.run(this.#stop.signal);
  }

  isOf(ref: { readonly name: string; readonly key: string }): boolean {
    return this.#options.name === ref.name && this.#options.key === ref.key;
  }

  /** The key as the Secret has it, without white space around it. Throws DependencyError, saying what is missing. */
  current(): string {
    const { namespace, name, key } = this.#options;
    const what = `Secret ${namespace}/${name}`;
    const [secret] = this.#informer.list();
    if (secret === undefined && !this.#informer.synced)
      throw new DependencyError(`${what} is not read yet; if it stays so, check that the operator may watch it`);
    if (secret === undefined) throw new DependencyError(`${what} does not exist`);
    const encoded = secret.data?.[key];
    if (encoded === undefined) throw new DependencyError(`${what} has no key ${JSON.stringify(key)}`);
    const apiKey = Buffer.from(encoded, 'base64').toString('utf8').trim();
    const value = `${what}: the value of ${JSON.stringify(key)}`;
    if (apiKey === '') throw new DependencyError(`${value} is empty`);
    if (!isKey(apiKey)) throw new DependencyError(`${value} is no API key: a key is ${keyForm}`);
    return apiKey;
  }

  /** Resolves when there was a first look at the Secret, or when that takes too long. */
  async whenRead(signal?: AbortSignal): Promise<void> {
    const ends = [this.#stop.signal, AbortSignal.timeout(firstReadMs), ...(signal === undefined ? [] : [signal])];
    await this.#informer.whenSynced(AbortSignal.any(ends)).catch(() => {});
  }

  close(): void {
    this.#stop.abort();
  }
}
