import type { Clock } from '../../common/clock.ts';
import type { ClusterAccess, Credentials } from './credentials.ts';

const refreshMs = 60_000;

/**
 * Keeps credentials for a minute: tokens rotate on disk and exec plugins answer with an expiry. What cannot be read anew
 * is kept until the server refuses it: a file that is away for some seconds is to cost no leadership.
 */
export class CredentialCache {
  readonly #access: Pick<ClusterAccess, 'load'>;
  readonly #clock: Clock;
  #source: (() => Promise<Credentials>) | undefined;
  #current: { readonly readAt: number; readonly credentials: Promise<Credentials> } | undefined;

  constructor(access: Pick<ClusterAccess, 'load'>, clock: Clock) {
    this.#access = access;
    this.#clock = clock;
  }

  get(): Promise<Credentials> {
    const age = this.#clock.now() - (this.#current?.readAt ?? Number.NEGATIVE_INFINITY);
    if (this.#current === undefined || age >= refreshMs || age < 0) return this.#read();
    return this.#current.credentials;
  }

  /** After a 401 with `refused`: reads everything again, once for all who were refused together. */
  async renew(refused: Credentials): Promise<Credentials> {
    const current = await this.get();
    if (current !== refused) return current;
    this.#source = undefined;
    this.#current = undefined;
    return this.#read();
  }

  #read(): Promise<Credentials> {
    const last = this.#current?.credentials;
    const credentials = this.#load().catch((error: unknown) => last ?? Promise.reject(error));
    const entry = { readAt: this.#clock.now(), credentials };
    this.#current = entry;
    credentials.catch(() => {
      if (this.#current === entry) this.#current = undefined;
    });
    return credentials;
  }

  async #load(): Promise<Credentials> {
    this.#source ??= await this.#access.load();
    return this.#source();
  }
}
