import { CloudClient } from '../../../cloud/client.ts';
import type { LimiterState } from '../../../cloud/limiter.ts';
import type { RequestReport } from '../../../cloud/transport.ts';
import type { Account } from '../../../reconcile/external/contract.ts';
import type { Budgets, Sharer } from './budgets.ts';

export interface OpenAccountOptions {
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
export class OpenAccount implements Account<CloudClient> {
  readonly key: string;
  readonly url: string;
  readonly client: CloudClient;
  readonly #budgets: Budgets;
  readonly #sharer: Sharer;
  readonly #unwatchBudget: (() => void) | undefined;

  /** @param key unique in this operator */
  constructor(key: string, options: OpenAccountOptions) {
    const { requestsPerMinute, budgets, watchBudget, ...rest } = options;
    const limiter = () => budgets.of(this.#sharer);
    this.key = key;
    this.url = options.baseURL;
    this.#budgets = budgets;
    this.#sharer = { url: this.url, apiKey: options.apiKey, requestsPerMinute };
    budgets.join(this.#sharer);
    this.client = new CloudClient({ ...rest, limiter });
    this.#unwatchBudget = watchBudget?.(() => limiter().state());
  }

  setRequestsPerMinute(requestsPerMinute: number): void {
    this.#sharer.requestsPerMinute = requestsPerMinute;
    this.#budgets.of(this.#sharer);
  }

  /** Resolves when the requests under way have ended. */
  async close(): Promise<void> {
    this.#unwatchBudget?.();
    await this.client.close();
    this.#budgets.leave(this.#sharer);
  }
}
