import type { Runtime } from '../../../../common/runtime.ts';
import { CloudClient } from '../../../cloud/client.ts';
import type { LimiterState } from '../../../cloud/limiter.ts';
import type { RequestReport } from '../../../cloud/transport.ts';
import type { Connection } from '../../../reconcile/context.ts';
import { type Budgets, type BudgetUser, credentialOf } from './budgets.ts';

export interface CloudConnectionOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'dispatcher'> {
  readonly baseURL: string;
  /** Asked for each request. */
  readonly apiKey: () => string;
  readonly requestsPerMinute: number;
  /** Of all accounts of this operator. */
  readonly budgets: Budgets;
  readonly userAgent: string;
  /** Throws when this process may not start a call, because another one leads. */
  readonly guard?: () => void;
  readonly onRequest?: (report: RequestReport) => void;
  /** Reads the state of the budget from time to time, until the function it returns is called. */
  readonly watchBudget?: (state: () => LimiterState) => () => void;
}

/** An account of the cloud, with the client that everything using it shares. */
export class CloudConnection implements Connection<CloudClient> {
  readonly key: string;
  readonly url: string;
  readonly client: CloudClient;
  readonly #closing = new AbortController();
  readonly #budgets: Budgets;
  readonly #user: BudgetUser;
  readonly #unwatchBudget: (() => void) | undefined;

  /** @param key unique in this operator */
  constructor(key: string, options: CloudConnectionOptions) {
    const { requestsPerMinute, budgets, watchBudget, ...rest } = options;
    const limiter = () => budgets.of(this.#user);
    this.key = key;
    this.url = options.baseURL;
    this.#budgets = budgets;
    this.#monotonic = options.monotonic;
    this.#user = { url: this.url, apiKey: options.apiKey, requestsPerMinute };
    budgets.join(this.#user);
    this.client = new CloudClient({ ...rest, limiter });
    this.#unwatchBudget = watchBudget?.(() => limiter().state());
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

  /** Another key is in force: it may be that of another account. */
  keyChanged(): void {
    this.since = this.#monotonic.now();
  }

  serviceTime(): number | undefined {
    return this.client.serviceTime();
  }

  setRequestsPerMinute(requestsPerMinute: number): void {
    this.#user.requestsPerMinute = requestsPerMinute;
    this.#budgets.of(this.#user);
  }

  /** Resolves when the requests under way have ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#unwatchBudget?.();
    await this.client.close();
    this.#budgets.leave(this.#user);
  }
}
