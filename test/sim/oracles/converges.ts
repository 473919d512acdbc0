import { type Report, unknownID } from '../core/run.ts';
import { isMadeElsewhere, isSoFor } from './verdicts/excuses.ts';
import { servants } from './verdicts/look.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { mutationsOf } from './witness/mutations.ts';
import { refusalsOf } from './witness/refusals.ts';
import { externalIDOf, type Resource } from './witness/resource.ts';
import { sightingsOf } from './witness/sightings.ts';
import type { Witness } from './witness/witness.ts';

/** At rest each resource is Ready, or says truly why it is not. */
export function converges(world: Witness, report: Report) {
  mutationsOf(world);
  sightingsOf(world);
  refusalsOf(world);
  const look = () => {
    for (const resource of kubeModelOf(world).live.values()) {
      const why = isUnsettled(world, resource);
      if (why !== undefined) report('converges', `${resource.key} ${why}`);
    }
  };
  return { atRest: look, atEnd: look };
}

/** Undefined: it is as it should be. */
function isUnsettled(world: Witness, resource: Resource): string | undefined {
  if (servants(world, resource).length === 0) return undefined;
  const { kind, namespace, name, ready, version } = resource;
  const expected = world.story.expect?.[`${kind}/${namespace}/${name}`];
  if (expected !== undefined) {
    // Whoever was served at another address for a while is refused now, whatever else would be said; and what a person could
    // not make, as the service was asked too much just then, cannot be found.
    const isElsewhere = ready?.reason === 'Rejected' && isMadeElsewhere(world, resource);
    const isNothing = ready?.reason === 'ExternalNotFound' && externalIDOf(version) === unknownID;
    return ready?.reason === expected || isElsewhere || isNothing
      ? undefined
      : `is ${ready?.reason ?? 'without a condition'}, and cannot be but ${expected}`;
  }
  if (ready === undefined) return 'has no condition';
  if (ready.observedGeneration !== version.generation)
    return `is ${ready.reason} of generation ${ready.observedGeneration}, not ${version.generation}`;
  if (ready.status === 'True' && !version.deleting) return undefined;
  if (isSoFor(world, resource, ready.reason)) return undefined;
  const what = version.deleting ? 'is not gone' : 'is not Ready';
  return `${what}: ${ready.reason}, ${ready.message}`;
}
