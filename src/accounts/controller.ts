import { Informer } from '../controller/informer.ts';
import { InformerGroup } from '../controller/informer-group.ts';
import { definition } from '../kinds/cloud-account/schema.ts';
import { type ControllerOptions, type KindController, kindController } from '../kinds/controller.ts';
import { keyOf } from '../kube/types.ts';
import type { ManagedObject } from '../reconcile/fields.ts';
import { isPaused } from '../reconcile/turn.ts';
import { AccountFlow } from './account-flow.ts';
import type { Accounts } from './accounts.ts';
import type { Mirrors } from './mirrors.ts';
import type { AccountUsers } from './users.ts';

/** A check may wait for a server that hangs: no account is to wait for another's. */
const minConcurrency = 16;

export type AccountControllerOptions = Omit<ControllerOptions<undefined>, 'accountOf'> & {
  readonly accounts: Accounts;
  readonly mirrors: Mirrors;
  readonly users: AccountUsers;
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

/** Every CloudAccount: of a sharded operator the controller has some, its resources may use any. */
export function everyAccount(
  options: Omit<ControllerOptions<undefined>, 'accountOf'>,
  controller: KindController,
): InformerGroup<ManagedObject> {
  const { reader, namespaces, labelSelector, clock, log } = options;
  if (labelSelector === undefined) return controller.resources;
  const scopes = namespaces.length === 0 ? [undefined] : namespaces;
  return new InformerGroup(
    scopes.map((namespace) => new Informer({ client: reader, type: definition.type, namespace, clock, log })),
  );
}
