import type { Call } from '../../../../common/call.ts';
import { isKey, keyForm } from '../../../../common/credential/key.ts';
import type { AllowedHosts } from '../../../reconcile/addresses/hosts.ts';
import type { RegistryEntry } from '../../../reconcile/connections/registry.ts';
import { doubtIn } from '../../../reconcile/external/census.ts';
import type { HeldSecret } from '../../../reconcile/referents/held-secrets.ts';
import type { References, Referent } from '../../../reconcile/referents/references.ts';
import { annotation, isPaused } from '../../../reconcile/resource/annotations.ts';
import { conditionOf, isDeleting, keyOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { parseSpec } from '../../../reconcile/resource/spec.ts';
import { DependencyError } from '../../../reconcile/status/outcome.ts';
import { type Spec, spec as specSchema } from '../cloud-account/schema.ts';
import { addressOf } from './address.ts';
import type { CloudConnection, CloudConnectionOptions } from './cloud-connection.ts';
import { KeyHistory } from './key-history.ts';

export interface AccountEntryOptions {
  /** Of accounts that name no address. */
  readonly defaultURL: string | undefined;
  readonly hosts: AllowedHosts;
  readonly open: (
    key: string,
    options: Pick<
      CloudConnectionOptions,
      'baseURL' | 'apiKey' | 'readKey' | 'requestsPerMinute' | 'keys' | 'isIdle' | 'guard' | 'onRequest'
    >,
  ) => CloudConnection;
  /** Tell of a change by `secretChanged`. */
  readonly references: References;
  /** On the monotonic clock. */
  readonly now: () => number;
  /** Another API key is in force. */
  readonly onRotated: () => void;
  /** The account is to be looked at again. */
  readonly onDoubt: () => void;
}

/**
 * What lives in this process for one CloudAccount: its connection for as long as its address stays the same, and its key.
 */
export class AccountEntry implements RegistryEntry {
  readonly #options: AccountEntryOptions;
  readonly #key: string;
  #object: ManagedObject;
  #connection: CloudConnection | undefined;
  #refusal: string | undefined;
  #secret: { readonly referent: Referent; readonly key: string; readonly name: string } | undefined;
  /** The last key read. Stays when its Secret goes: what uses the account must still be deletable. */
  #apiKey: string | undefined;
  readonly #keys = new KeyHistory();
  #placedAt: number;
  /** The last check that the account passed. */
  #passed: { readonly at: number; readonly apiKey: string } | undefined;

  constructor(object: ManagedObject, options: AccountEntryOptions) {
    this.#object = object;
    this.#key = keyOf(object);
    this.#options = options;
    this.#placedAt = options.now();
    this.follow(object);
  }

  get object(): ManagedObject {
    return this.#object;
  }

  /** When another replica was seen to give it away, on the monotonic clock. */
  get placedAt(): number {
    return this.#placedAt;
  }

  /** What uses it is where it is. */
  state(): string {
    return String(this.#object.status?.shard ?? '');
  }

  follow(object: ManagedObject): void {
    if (object.status?.shard !== this.#object.status?.shard) this.#placedAt = this.#options.now();
    this.#object = object;
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) this.#refuse(parsed.report.message);
    else this.#use(parsed.spec);
  }

  /** Why nothing may be sent, whatever the key: then there is no connection. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  get connection(): CloudConnection | undefined {
    return this.#connection;
  }

  problem(): string | undefined {
    if (this.#connection === undefined) return `cannot be used: ${this.#refusal}`;
    if (isDeleting(this.#object)) return 'is being deleted';
    const { pause } = this;
    if (pause !== undefined) return pause;
    const keyProblem = this.#keyProblem();
    return keyProblem === undefined ? this.#unready() : `cannot be used: ${keyProblem}`;
  }

  /** Why nothing is to be sent, deletes least of all, as long as a person says so. */
  get pause(): string | undefined {
    return isPaused(this.#object) ? `is paused by its annotation ${annotation.paused}` : undefined;
  }

  /** The problem goes by itself, or the account does. */
  get isPending(): boolean {
    if (this.#connection === undefined) return false;
    const keyError = this.#keyError();
    return isDeleting(this.#object) || (keyError === undefined ? !this.#isChecked() : keyError.isPending);
  }

  /** Its key is being read: it may turn out to be any. */
  get isKeyUnread(): boolean {
    return this.#connection !== undefined && this.#keyError()?.isPending === true;
  }

  /** The Secret was read for the first time, or has changed. */
  secretChanged(): void {
    if (this.#takeKey()) this.#options.onRotated();
    this.#options.onDoubt();
  }

  /** For a resource that is being deleted the last key read is good enough; undefined when there is none. */
  forDelete(): CloudConnection | undefined {
    return this.#apiKey === undefined ? undefined : this.#connection;
  }

  /** Why there is no key, when there is none. */
  get lostKey(): string | undefined {
    return this.#apiKey === undefined ? this.#keyProblem() : undefined;
  }

  /** What is known of the Secret; undefined while the spec names none that can be used. */
  get keySecret(): HeldSecret | undefined {
    if (this.#secret === undefined) return undefined;
    const { name, referent } = this.#secret;
    const { metadata } = referent;
    const noteHeld = (finalizer: string) => referent.noteHeld(finalizer);
    return { name, metadata, isUsable: this.#keyProblem() === undefined, noteHeld };
  }

  async whenRead(signal?: AbortSignal): Promise<void> {
    await this.#secret?.referent.whenRead(signal);
  }

  /** The key as the Secret has it, without white space around it. Throws DependencyError, saying what is missing. */
  requireKey(): string | undefined {
    if (this.#secret === undefined) return undefined;
    const { referent, name, key } = this.#secret;
    const apiKey = referent.read(key).trim();
    const value = `Secret ${this.#object.metadata.namespace}/${name}: the value of ${JSON.stringify(key)}`;
    if (apiKey === '') throw new DependencyError(`${value} is empty`);
    if (!isKey(apiKey)) throw new DependencyError(`${value} is no API key: a key is ${keyForm}`);
    return apiKey;
  }

  /** A person asks for a refused key to be tried: the account is checked, which its users may be waiting for. */
  tryKey(): void {
    if (this.#connection?.tryKey() === true) this.#options.onDoubt();
  }

  /** The account passed a check with the key in force at `since` (milliseconds since the epoch) or later. */
  passedSince(since: number): boolean {
    return this.#passed !== undefined && this.#passed.at >= since && this.#passed.apiKey === this.#apiKey;
  }

  /** One cheap request. Throws an ApiError. */
  async check(connection: CloudConnection, now: number, call: Call): Promise<void> {
    const apiKey = this.#apiKey;
    this.#passed = undefined;
    await connection.client.botUsers.list({ limit: 1 }, call);
    if (apiKey !== undefined && connection === this.#connection) this.#passed = { at: now, apiKey };
  }

  async close(): Promise<void> {
    this.#options.references.forget(this.#key);
    await this.#connection?.close();
  }

  #use({ apiURL, apiKeySecretRef, requestsPerMinute }: Spec): void {
    // Whatever the address: the Secret is held, and who holds it must see that it is to go.
    this.#followSecret(apiKeySecretRef);
    const { defaultURL, hosts } = this.#options;
    const address = addressOf(apiURL, defaultURL, hosts);
    if ('refusal' in address) this.#refuse(address.refusal);
    else this.#connect(address.url, requestsPerMinute);
  }

  #connect(url: string, requestsPerMinute: Spec['requestsPerMinute']): void {
    this.#refusal = undefined;
    if (this.#connection?.url === url) this.#connection.setRequestsPerMinute(requestsPerMinute);
    else this.#open(url, requestsPerMinute);
  }

  #refuse(refusal: string): void {
    this.#refusal = refusal;
    void this.#connection?.close();
    this.#connection = undefined;
    this.#passed = undefined;
  }

  /** Another address never gets a key that was read for this one. */
  #open(baseURL: string, requestsPerMinute: number): void {
    void this.#connection?.close();
    this.#passed = undefined;
    this.#apiKey = undefined;
    this.#connection = this.#options.open(this.#key, {
      baseURL,
      requestsPerMinute,
      keys: this.#keys,
      apiKey: () => this.#keyInForce(),
      readKey: async (signal) => (await this.#secret?.referent.readAnew(signal)) === true,
      isIdle: () => isPaused(this.#object) || this.#keyProblem() !== undefined,
      // Lists that resources share are nobody's call.
      guard: () => {
        if (this.pause !== undefined) throw new DependencyError(`CloudAccount ${this.#key} ${this.pause}`);
      },
      onRequest: ({ keyRefused }) => {
        if (keyRefused) this.#doubt();
      },
    });
    this.#takeKey();
  }

  #followSecret({ name, key }: { readonly name: string; readonly key: string }): void {
    const { references } = this.#options;
    const referent = references.follow(this.#key, { kind: 'Secret', name, key });
    const isOther = this.#secret !== undefined && (this.#secret.name !== name || this.#secret.key !== key);
    this.#secret = { referent, name, key };
    references.forget(this.#key, referent);
    // Nobody tells of a Secret that was read before.
    if (isOther) this.secretChanged();
  }

  /** Answers whether another key is in force now. */
  #takeKey(): boolean {
    if (this.#connection === undefined || this.#secret === undefined || this.#keyProblem() !== undefined) return false;
    const before = this.#apiKey;
    this.#apiKey = this.requireKey();
    if (this.#apiKey === before) return false;
    this.#connection.keyed();
    return true;
  }

  #keyInForce(): string {
    if (this.#apiKey === undefined) throw new Error('the Secret was not read');
    return this.#apiKey;
  }

  #keyProblem(): string | undefined {
    return this.#keyError()?.message;
  }

  #keyError(): DependencyError | undefined {
    try {
      this.requireKey();
      return undefined;
    } catch (error) {
      if (error instanceof DependencyError) return error;
      throw error;
    }
  }

  /** What the last check said, by the status that the leader wrote. */
  #unready(): string | undefined {
    const ready = conditionOf(this.#object, 'Ready');
    if (ready === undefined || !this.#isChecked()) return 'has not been checked yet';
    // Its users are told of a rate limit by their own calls, and it is them that tell it of what is missing.
    const isTheirs = ready.reason === 'RateLimited' || doubtIn(this.#object) !== undefined;
    if (ready.status === 'True' || isTheirs) return undefined;
    return `is not Ready: ${ready.reason}: ${ready.message}`;
  }

  /** By whoever leads, at the address that is used. */
  #isChecked(): boolean {
    const { status } = this.#object;
    return conditionOf(this.#object, 'Ready') !== undefined && status?.apiURL === this.#connection?.url;
  }

  /** The service refused the key to some user: the account is checked at once, not at its next time. */
  #doubt(): void {
    if (this.#passed === undefined) return;
    this.#passed = undefined;
    this.#options.onDoubt();
  }
}
