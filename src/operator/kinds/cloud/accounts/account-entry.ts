import type { Call } from '../../../../common/priority.ts';
import { keyOf } from '../../../kube/types.ts';
import { annotation } from '../../../reconcile/annotations.ts';
import { isDeleting, isPaused } from '../../../reconcile/context.ts';
import { DependencyError } from '../../../reconcile/outcome.ts';
import { conditionOf, type ManagedObject } from '../../../reconcile/resource.ts';
import { parseSpec } from '../../../reconcile/spec.ts';
import { type Spec, spec as specSchema } from '../cloud-account/schema.ts';
import type { ApiHosts } from './api-hosts.ts';
import type { OpenAccount, OpenAccountOptions } from './cloud-connection.ts';
import { SecretKey, type SecretKeyOptions } from './secret-key.ts';

export interface AccountEntryOptions {
  readonly hosts: ApiHosts;
  readonly open: (
    key: string,
    options: Pick<OpenAccountOptions, 'baseURL' | 'apiKey' | 'requestsPerMinute' | 'onRequest'>,
  ) => OpenAccount;
  readonly secrets: Pick<SecretKeyOptions, 'reader' | 'clock' | 'log'>;
  /** Another API key is in force. */
  readonly onRotated: () => void;
  /** The account is to be looked at again. */
  readonly onDoubt: () => void;
}

/**
 * What lives in this process for one CloudAccount: its client and limiter for as long as its address stays the same,
 * and the watch on its Secret.
 */
export class AccountEntry {
  readonly #options: AccountEntryOptions;
  #object: ManagedObject;
  #account: OpenAccount | undefined;
  #refusal: string | undefined;
  #secret: SecretKey | undefined;
  /** The last key read. Stays when its Secret goes: what uses the account must still be deletable. */
  #apiKey: string | undefined;
  /** The last check that the account passed. */
  #passed: { readonly at: number; readonly apiKey: string } | undefined;

  constructor(object: ManagedObject, options: AccountEntryOptions) {
    this.#object = object;
    this.#options = options;
    this.follow(object);
  }

  /** Does what a change of the resource asks for. */
  follow(object: ManagedObject): void {
    this.#object = object;
    const asked = this.#askedOf(object);
    if ('refusal' in asked) this.#refuse(asked.refusal);
    else this.#use(asked.spec, asked.url);
  }

  /** Why nothing may be sent, whatever the key: then there is no account. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  get account(): OpenAccount | undefined {
    return this.#account;
  }

  /** Why, as the end of a sentence that begins with the account, resources cannot use the account now; undefined when they can. */
  problem(): string | undefined {
    if (this.#account === undefined) return `cannot be used: ${this.#refusal}`;
    if (isDeleting(this.#object)) return 'is being deleted';
    if (isPaused(this.#object)) return `is paused by its annotation ${annotation.paused}`;
    const keyProblem = this.#keyProblem();
    return keyProblem === undefined ? this.#unready(this.#account) : `cannot be used: ${keyProblem}`;
  }

  /** For a resource that is being deleted the last key read is good enough; undefined when there is none. */
  forDelete(): OpenAccount | undefined {
    return this.#apiKey === undefined ? undefined : this.#account;
  }

  /** Why there is no key, when there is none. */
  get lostKey(): string | undefined {
    return this.#apiKey === undefined ? this.#keyProblem() : undefined;
  }

  /** Waits a little for the first look at the Secret. */
  async whenRead(signal?: AbortSignal): Promise<void> {
    await this.#secret?.whenRead(signal);
  }

  /** Throws DependencyError while the Secret has no key. */
  requireKey(): void {
    this.#secret?.current();
  }

  /** The account passed a check with the key in force at `since` (milliseconds since the epoch) or later. */
  passedSince(since: number): boolean {
    return this.#passed !== undefined && this.#passed.at >= since && this.#passed.apiKey === this.#apiKey;
  }

  /** One cheap request. Throws a CallFailure. */
  async check(account: OpenAccount, now: number, call: Call): Promise<void> {
    const apiKey = this.#apiKey;
    this.#passed = undefined;
    await account.client.botUsers.list({ limit: 1 }, call);
    if (apiKey !== undefined && account === this.#account) this.#passed = { at: now, apiKey };
  }

  async close(): Promise<void> {
    this.#secret?.close();
    await this.#account?.close();
  }

  #askedOf(object: ManagedObject): { readonly spec: Spec; readonly url: string } | { readonly refusal: string } {
    const parsed = parseSpec(specSchema, object);
    if ('report' in parsed) return { refusal: parsed.report.message };
    const admission = this.#options.hosts.admit(parsed.spec.apiURL);
    return 'refusal' in admission ? admission : { spec: parsed.spec, url: admission.url };
  }

  #use({ apiKeySecretRef, requestsPerMinute }: Spec, url: string): void {
    this.#refusal = undefined;
    this.#read(apiKeySecretRef);
    if (this.#account?.url === url) this.#account.setRequestsPerMinute(requestsPerMinute);
    else this.#open(url, requestsPerMinute);
  }

  #refuse(refusal: string): void {
    this.#refusal = refusal;
    void this.#account?.close();
    this.#account = undefined;
    this.#passed = undefined;
  }

  /** Another address never gets a key that was read for this one. */
  #open(baseURL: string, requestsPerMinute: number): void {
    void this.#account?.close();
    this.#passed = undefined;
    this.#apiKey = undefined;
    this.#account = this.#options.open(keyOf(this.#object), {
      baseURL,
      requestsPerMinute,
      apiKey: () => this.#keyInForce(),
      onRequest: ({ status }) => {
        if (status === 401) this.#doubt();
      },
    });
    this.#takeKey();
  }

  #read(ref: { readonly name: string; readonly key: string }): void {
    if (this.#secret?.isOf(ref)) return;
    this.#secret?.close();
    const { namespace = '' } = this.#object.metadata;
    this.#secret = new SecretKey({
      ...this.#options.secrets,
      ...ref,
      namespace,
      onChange: () => {
        if (this.#takeKey()) this.#options.onRotated();
        this.#options.onDoubt();
      },
    });
  }

  /** Answers whether another key is in force now. */
  #takeKey(): boolean {
    if (this.#account === undefined || this.#secret === undefined || this.#keyProblem() !== undefined) return false;
    const before = this.#apiKey;
    this.#apiKey = this.#secret.current();
    return this.#apiKey !== before;
  }

  #keyInForce(): string {
    if (this.#apiKey === undefined) throw new Error('the Secret was not read');
    return this.#apiKey;
  }

  #keyProblem(): string | undefined {
    try {
      this.#secret?.current();
      return undefined;
    } catch (error) {
      if (error instanceof DependencyError) return error.message;
      throw error;
    }
  }

  /** What the last check said, by the status that the leader wrote. */
  #unready(account: OpenAccount): string | undefined {
    const ready = conditionOf(this.#object, 'Ready');
    if (ready === undefined || this.#object.status?.apiURL !== account.url) return 'has not been checked yet';
    // Its users are told of a rate limit by their own calls.
    if (ready.status === 'True' || ready.reason === 'RateLimited') return undefined;
    return `is not Ready: ${ready.reason}: ${ready.message}`;
  }

  /** The service refused the key to some user: the account is checked at once, not at its next time. */
  #doubt(): void {
    if (this.#passed === undefined) return;
    this.#passed = undefined;
    this.#options.onDoubt();
  }
}
