import type { Dependents } from '../../../reconcile/connections/dependents.ts';
import type { Kind } from '../../../reconcile/kind.ts';
import { kindController } from '../../../reconcile/kind-controller.ts';
import { isPaused } from '../../../reconcile/resource/annotations.ts';
import { keyOf } from '../../../reconcile/resource/resource.ts';
import type { CloudKindOptions } from '../accounts/cloud-kind.ts';
import { AccountFlow } from './flow.ts';
import { relocate } from './relocate.ts';
import { definition } from './schema.ts';

type AccountOptions = CloudKindOptions & { readonly dependents: Dependents };

export const cloudAccount: Kind<AccountOptions> = {
  definition,
  controller: (options) => {
    const epoch = options.monotonic.now();
    const drain = (account: string) => options.dependents.drain(({ connection }) => connection === account);
    const means = { ...options, drain };
    const controller = kindController<undefined>(
      definition.type,
      {
        ...options,
        connectionOf: (object) => ({ key: keyOf(object), client: undefined }),
        placement: options.homes.ofAccounts,
        relocate: (object, place, call) => relocate(means, object, place, call),
      },
      () => ({ flow: new AccountFlow(options), epochOf: () => epoch }),
    );
    // A paused account is not reconciled, and makes no call.
    controller.resources.onChange(({ object }) => {
      if (isPaused(object)) void options.mirrors.stop(keyOf(object));
    });
    return controller;
  },
};
