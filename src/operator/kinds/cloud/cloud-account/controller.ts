import { keyOf } from '../../../kube/types.ts';
import type { Mirrors } from '../../../mirror/mirrors.ts';
import { isPaused } from '../../../reconcile/context.ts';
import type { Users } from '../../../reconcile/dependents.ts';
import { type ControllerOptions, type KindController, kindController } from '../../../reconcile/kind-controller.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { AccountFlow } from './flow.ts';
import { definition } from './schema.ts';

/** A check may wait for a server that hangs: no account is to wait for another's. */
const minConcurrency = 16;

export type AccountControllerOptions = Omit<ControllerOptions<undefined>, 'accountOf'> & {
  readonly accounts: Accounts;
  readonly mirrors: Mirrors;
  readonly users: Users;
};

/** The controller of CloudAccount. */
export function accountController(options: AccountControllerOptions): KindController {
  const { accounts, mirrors, users, clock } = options;
  const epoch = clock.now();
  const controller = kindController<undefined>(
    definition.type,
    {
      ...options,
      accountOf: (object) => ({ key: keyOf(object), client: undefined }),
      concurrency: Math.max(options.concurrency, minConcurrency),
    },
    () => ({ flow: new AccountFlow({ accounts, mirrors, users }), epochOf: () => epoch }),
  );
  // A paused account is not reconciled, and makes no call.
  controller.resources.onChange(({ object }) => {
    if (isPaused(object)) void mirrors.stop(keyOf(object));
  });
  return controller;
}
