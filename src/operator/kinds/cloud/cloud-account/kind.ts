import { isPaused } from '../../../reconcile/annotations.ts';
import type { Kind } from '../../../reconcile/kind.ts';
import { kindController, type SharedOptions } from '../../../reconcile/kind-controller.ts';
import { keyOf } from '../../../reconcile/resource.ts';
import { AccountFlow, type AccountFlowOptions } from './flow.ts';
import { definition } from './schema.ts';

export const cloudAccount: Kind<SharedOptions & AccountFlowOptions> = {
  definition,
  controller: (options) => {
    const epoch = options.monotonic.now();
    const controller = kindController<undefined>(
      definition.type,
      { ...options, connectionOf: (object) => ({ key: keyOf(object), client: undefined }) },
      () => ({ flow: new AccountFlow(options), epochOf: () => epoch }),
    );
    // A paused account is not reconciled, and makes no call.
    controller.resources.onChange(({ object }) => {
      if (isPaused(object)) void options.mirrors.stop(keyOf(object));
    });
    return controller;
  },
};
