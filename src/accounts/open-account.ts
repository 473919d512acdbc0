import { CloudClient } from '../cloud/client.ts';
import { Limiter, type LimiterState } from '../cloud/limiter.ts';
import type { RequestReport } from '../cloud/transport.ts';
import type { Account } from '../reconcile/external.ts';

export interface OpenAccountOptions {
  readonly baseURL: string;
  /** Asked for each request. */
  readonly apiKey: () => string;
  readonly requestsPerMinute: number;
  readonly userAgent: string;
  /** Throws when this process may not start a call, because another one leads. */
  readonly guard?: () => void;
  readonly onRequest?: (report: RequestReport) => void;
  /** Reads the state of the budget from time to time, until the function it returns is called. */
  readonly watchBudget?: (state: () => LimiterState) => () => void;
}

/** An account of the cloud with the one limiter and client that everything using its credential shares. */
export class OpenAccount implements Account<CloudClient> {
  readonly key: string;
  readonly url: string;
  readonly client: CloudClient;
  readonly #limiter: Limiter;
  readonly #unwatchBudget: (() => void) | undefined;

  /** @param key unique in this operator */
  constructor(key: string, options: OpenAccountOptions) {
    const { requestsPerMinute, watchBudget, ...rest } = options;
    this.key = key;
    this.url = options.baseURL;
    this.#limiter = new Limiter({ requestsPerMinute });
    this.client = new CloudClient({ ...rest, limiter: this.#limiter });
    this.#unwatchBudget = watchBudget?.(() => this.#limiter.state());
  }

  setRequestsPerMinute(requestsPerMinute: number): void {
    this.#limiter.setRequestsPerMinute(requestsPerMinute);
  }

  /** Resolves when the requests under way have ended. */
  async close(): Promise<void> {
    this.#unwatchBudget?.();
    await this.client.close();
  }
}
