import type { CloudClient } from '../../../cloud/client.ts';
import type { Mirrors } from '../../../mirror/mirrors.ts';
import type { KindOptions } from '../../../reconcile/kind-controller.ts';
import type { HeldSecrets } from '../../../reconcile/referents/held-secrets.ts';
import type { Accounts } from './accounts.ts';
import type { Homes } from './homes.ts';

/** What every kind of this family is given. */
export type CloudKindOptions = KindOptions<CloudClient> & {
  readonly accounts: Accounts;
  readonly homes: Homes;
  readonly mirrors: Mirrors;
  readonly heldSecrets: HeldSecrets;
};
