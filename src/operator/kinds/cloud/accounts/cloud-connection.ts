import { type Call, type Reserved, waitAway } from '../../../../common/call.ts';
import { isKey } from '../../../../common/credential/key.ts';
import { canonicalURL } from '../../../../common/http/url.ts';
import type { Log } from '../../../../common/log.ts';
import type { Runtime } from '../../../../common/runtime.ts';
import { CloudClient } from '../../../cloud/client.ts';
import type { LimiterState } from '../../../cloud/limiter.ts';
import type { RequestReport } from '../../../cloud/transport.ts';
import type { Connection } from '../../../reconcile/connections/connection.ts';
import type { Budgets, BudgetUser } from './budgets.ts';
import { credentialOf } from './credential.ts';
import { KeyHistory } from './key-history.ts';
import { Outage } from './outage.ts';

export interface CloudConnectionOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'random' | 'dispatcher'> {
  readonly baseURL: string;
  /** Asked for each request. */
  readonly apiKey: () => string;
  /** Reads anew what `apiKey` is taken from. */
  readonly readKey?: (signal: AbortSignal | undefined) => Promise<boolean>;
  readonly requestsPerMinute: number;
  /** Of the account, whose address may change; default one of this connection alone. */
  readonly keys?: KeyHistory;
  /** It is the operator's own. */
  readonly isDefault?: boolean;
  /** Resources of several namespaces may use it. */
  readonly isShared?: boolean;
  /** Of all accounts of this operator. */
  readonly budgets: Budgets;
  readonly userAgent: string;
  /** Throws when this process may not start a call, because another one leads, or a person has paused the account. */
  readonly guard?: () => void;
  readonly onRequest?: (report: RequestReport) => void;
  /** Nothing is to be sent for the account for now, as while a person has paused it. Default never. */
  readonly isIdle?: () => boolean;
  /** The service did not answer for a while, and does again. */
  readonly onBack?: () => void;
  readonly log: Log;
  /** Reads the state of budget and key from time to time, until the function it returns is called. */
  readonly watchBudget?: (state: () => LimiterState & { readonly isKeyUnusable: boolean }) => () => void;
}

/** An account of the cloud, with the client that everything using it shares. */
export class CloudConnection implements Connection<CloudClient> {
  readonly key: string;
  readonly url: string;
  readonly client: CloudClient;
  readonly #closing = new AbortController();
  readonly #budgets: Budgets;
  readonly #user: BudgetUser;
  readonly #keys: KeyHistory;
  readonly #readKey: CloudConnectionOptions['readKey'];
  readonly #unwatchBudget: (() => void) | undefined;

  /** @param key unique in this operator */
  constructor(key: string, options: CloudConnectionOptions) {
    const {
      requestsPerMinute,
      isDefault = false,
      isShared = false,
      budgets,
      watchBudget,
      keys = new KeyHistory(),
    } = options;
    const { random, log, isIdle = () => false, onBack = () => {}, onRequest, guard: mayCall, ...rest } = options;
    const limiter = () => budgets.of(this.#user).limiter;
    const gate = () => budgets.of(this.#user).gate;
    this.key = key;
    this.url = options.baseURL;
    this.#budgets = budgets;
    this.#monotonic = options.monotonic;
    this.#keys = keys;
    this.#readKey = options.readKey;
    const { apiKey } = options;
    this.#user = { account: key, url: canonicalURL(this.url), apiKey, requestsPerMinute, isDefault, isShared };
    budgets.join(this.#user);
    if (isDefault) keys.begin(this.identity, Number.NEGATIVE_INFINITY);
    const outage = new Outage({
      ...{ monotonic: options.monotonic, random, closed: this.closed },
      requestsPerMinute: () => this.#user.requestsPerMinute,
      log: log.child({ account: key }),
      probe: () => this.probe({ priority: 'resync', signal: this.closed }),
      isIdle,
      onOver: onBack,
    });
    const heard: CloudConnectionOptions['onRequest'] = (report) => {
      onRequest?.(report);
      outage.heard(report);
    };
    // What waited for its turn when the account got another address, and with it another key, goes nowhere.
    const guard = () => {
      this.closed.throwIfAborted();
      mayCall?.();
    };
    this.client = new CloudClient({ ...rest, account: key, limiter, gate, guard, onRequest: heard });
    this.#unwatchBudget = watchBudget?.(() => ({ ...limiter().state(key), isKeyUnusable: this.#isKeyUnusable() }));
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  confirmedAt?: number;
  since?: number;
  readonly #monotonic: Runtime['monotonic'];

  /** The same for every account of one key at one address; undefined while there is no key. Lives in memory alone. */
  get identity(): string | undefined {
    return credentialOf(this.#user);
  }

  /** What was seen before may be another account's, or have changed since. */
  distrust(): void {
    this.since = this.#monotonic.now();
  }

  /** A key was put in force; another one than before may be that of another account. */
  keyed(): void {
    const now = this.#monotonic.now();
    this.since = now;
    this.#keys.begin(this.identity, now);
    this.#budgets.keyed(this.#user);
  }

  /** When another key took the place of its key, on the monotonic clock; undefined where none has. */
  get rekeyedAt(): number | undefined {
    return this.#keys.rekeyedAt;
  }

  /** As `identity`, of every key that the account had while this process ran. */
  get identities(): readonly string[] {
    return this.#keys.identities;
  }

  hadAnotherKey(at: number): boolean {
    return this.#keys.wasAnother(at);
  }

  get keyMark(): string | undefined {
    return this.#budgets.keyMarkOf(this.#user);
  }

  async readKey(call: Call): Promise<boolean> {
    const read = this.#readKey;
    return read === undefined || waitAway(call, () => read(call.signal));
  }

  serviceTime(): number | undefined {
    return this.client.serviceTime();
  }

  /** An API that is there has this list, though it may be empty. */
  probe(call: Call): Promise<unknown> {
    return this.client.botUsers.list({ limit: 1 }, call);
  }

  /** See {@link KeyGate.tryNow}. */
  tryKey(): boolean {
    return this.#budgets.of(this.#user).gate.tryNow();
  }

  reserve(call: Call): Promise<Reserved> {
    return this.client.reserve(call);
  }

  setRequestsPerMinute(requestsPerMinute: number): void {
    this.#user.requestsPerMinute = requestsPerMinute;
    this.#budgets.of(this.#user);
  }

  /** What a file has come to hold need be no key. Of none at all there is nothing to say. */
  #isKeyUnusable(): boolean {
    return this.identity !== undefined && !isKey(this.#user.apiKey());
  }

  /** Resolves when the requests under way have ended. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the account is gone, or has another address'));
    this.#unwatchBudget?.();
    await this.client.close();
    this.#budgets.leave(this.#user);
  }
}
