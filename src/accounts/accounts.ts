import { CloudClient } from '../cloud/client.ts';
import { Limiter, type LimiterState } from '../cloud/limiter.ts';
import type { RequestReport } from '../cloud/transport.ts';
import type { Account } from '../reconcile/external.ts';
import type { ManagedObject } from '../reconcile/fields.ts';
import { DependencyError } from '../reconcile/outcome.ts';

export interface AccountOptions {
  readonly baseURL: string;
  /** Asked for each request. */
  readonly apiKey: () => string;
  readonly requestsPerMinute: number;
  readonly userAgent: string;
  /** Throws when this process may not start a call, because another one leads. */
  readonly guard?: () => void;
  readonly onRequest?: (report: RequestReport) => void;
}

/** An account of the cloud with the one limiter and client that everything using its credential shares. */
export class CloudAccount implements Account<CloudClient> {
  readonly key: string;
  readonly client: CloudClient;
  readonly #limiter: Limiter;

  constructor(key: string, options: AccountOptions) {
    const { requestsPerMinute, ...rest } = options;
    this.key = key;
    this.#limiter = new Limiter({ requestsPerMinute });
    this.client = new CloudClient({ ...rest, limiter: this.#limiter });
  }

  budget(): LimiterState {
    return this.#limiter.state();
  }
}

/** The account that a resource uses. Throws DependencyError when there is none that it could use. */
export function accountOf(defaultAccount: CloudAccount | undefined, object: ManagedObject): CloudAccount {
  const ref = object.spec.accountRef as { readonly name: string } | undefined;
  if (ref !== undefined)
    throw new DependencyError(`spec.accountRef: there is no CloudAccount ${ref.name} in this namespace`);
  if (defaultAccount !== undefined) return defaultAccount;
  throw new DependencyError(
    'the operator has no default account: start it with --api-key-file, or set spec.accountRef',
  );
}
