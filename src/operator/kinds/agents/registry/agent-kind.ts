import type { Placement } from '../../../reconcile/connections/placement.ts';
import type { ReconcileContext } from '../../../reconcile/context.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import type { Kind, KindDefinition } from '../../../reconcile/kind.ts';
import { kindController, type SharedOptions } from '../../../reconcile/kind-controller.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { spread } from '../../../reconcile/schedule.ts';
import type { Agents } from './agents.ts';

/** What every kind of this family is given. */
export type AgentKindOptions = SharedOptions & { readonly agents: Agents; readonly placement: Placement };

/** These flows find their agent themselves: what was started in one that is gone must be deletable. */
export type AgentContext = ReconcileContext<undefined>;

/** A kind whose resources use the agent that `agentKey` names, and are due at the same moments as all of that agent's. */
export function agentKind<Options extends AgentKindOptions>(
  definition: KindDefinition,
  agentKey: (object: ManagedObject) => string,
  flowOf: (options: Options) => Flow<undefined>,
  { resyncIntervalMs }: { readonly resyncIntervalMs?: number } = {},
): Kind<Options> {
  return {
    definition,
    controller: (options) =>
      kindController<undefined>(
        definition.type,
        {
          ...options,
          connectionOf: (object) => ({ key: agentKey(object), client: undefined }),
          resyncIntervalMs: resyncIntervalMs ?? options.resyncIntervalMs,
        },
        // So that one list serves an agent and all its tunnels; agents at moments of their own.
        () => ({ flow: flowOf(options), epochOf: (object: ManagedObject) => -spread(agentKey(object)) }),
      ),
  };
}
