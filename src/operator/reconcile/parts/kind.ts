import type { Kind, KindDefinition } from '../kind.ts';
import { type KindOptions, kindController } from '../kind-controller.ts';
import { References } from '../referents/references.ts';
import type { ManagedObject, ManagedSpec } from '../resource/resource.ts';
import { spread } from '../schedule.ts';
import { PartsFlow } from './flow.ts';
import type { PartsContract } from './part.ts';

/** A kind that is a set of parts of one parent. */
export function partsKind<Spec extends ManagedSpec, Client>(
  definition: KindDefinition,
  contract: PartsContract<Spec, Client>,
): Kind<KindOptions<Client>> & { readonly contract: PartsContract<Spec, Client> } {
  return {
    definition,
    contract,
    controller: (options) => {
      const { createSettleMs } = options;
      const epoch = options.monotonic.now();
      return kindController(definition.type, options, (enqueue) => {
        const references = new References({ ...options, enqueue: (user, initial) => initial || enqueue(user) });
        return {
          flow: new PartsFlow(contract, { references, createSettleMs }),
          // Checks of parts are calls of their own: spread over the interval, so that no two rounds bunch up.
          epochOf: (object: ManagedObject) => epoch - spread(object.metadata.uid ?? ''),
        };
      });
    },
  };
}
