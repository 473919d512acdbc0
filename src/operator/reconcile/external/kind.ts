import type { Kind, KindDefinition } from '../kind.ts';
import { type KindOptions, kindController } from '../kind-controller.ts';
import { listEverywhere } from '../resource/informers.ts';
import type { ManagedSpec } from '../resource/resource.ts';
import type { ExternalContract } from './contract.ts';
import { ExternalFlow } from './flow.ts';

/** A kind whose external id the service assigns. */
export function externalKind<Spec extends ManagedSpec, Observed, Client>(
  definition: KindDefinition,
  contract: ExternalContract<Spec, Observed, Client>,
): Kind<KindOptions<Client>> & { readonly contract: ExternalContract<Spec, Observed, Client> } {
  return {
    definition,
    contract,
    controller: (options) => {
      const { client, namespaces, createSettleMs, monotonic, census } = options;
      const listResources = () => listEverywhere(client, definition.type, namespaces);
      const epoch = monotonic.now();
      return kindController(definition.type, options, () => ({
        flow: new ExternalFlow(contract, { listResources, createSettleMs, census }),
        epochOf: () => epoch,
      }));
    },
  };
}
