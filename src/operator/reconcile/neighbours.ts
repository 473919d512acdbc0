import { annotation } from './annotations.ts';
import { conditionOf, type ManagedObject } from './resource.ts';

/** How long whoever put our condition right counts as being at work. */
const aliveForMs = 3_600_000;
/** How long one is given to do so. */
const probeMs = 60_000;

/** Whether to write what there is to say of a resource that another installation manages: now, after a wait, or not at all. */
export type Say = { readonly kind: 'now' } | { readonly kind: 'after'; readonly ms: number };

/**
 * Other installations of the operator that manage resources which this one watches too. Two that both wrote the condition
 * of one resource would do so for ever. So what this one has to say is written to one resource first: whoever is at work
 * there puts it right, and is not contradicted any more. Only one that is gone is spoken for.
 */
export class Neighbours {
  readonly #now: () => number;
  readonly #aliveSince = new Map<string, number>();
  readonly #probes = new Map<string, { readonly uid: string; readonly at: number }>();

  /** @param now milliseconds on the monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Of a resource that `installation` manages. */
  ask(installation: string, object: ManagedObject): Say {
    const now = this.#now();
    const uid = object.metadata.uid ?? '';
    const silentMs = (this.#aliveSince.get(installation) ?? Number.NEGATIVE_INFINITY) + aliveForMs - now;
    if (silentMs > 0) return { kind: 'after', ms: silentMs };
    const probe = this.#probes.get(installation);
    if (probe === undefined || (probe.uid !== uid && now - probe.at > aliveForMs)) {
      this.#probes.set(installation, { uid, at: now });
      return { kind: 'now' };
    }
    if (probe.uid === uid) {
      if (isForeign(object)) return { kind: 'now' };
      this.#probes.delete(installation);
      this.#aliveSince.set(installation, now);
      return { kind: 'after', ms: aliveForMs };
    }
    const waitMs = probe.at + probeMs - now;
    return waitMs > 0 ? { kind: 'after', ms: waitMs } : { kind: 'now' };
  }
}

/** What the condition says of a resource that is another installation's. */
export function foreignMessage(installation: string): string {
  return (
    `this resource is managed by another installation of the operator, ${installation}: let one of the two watch its ` +
    `namespace, or have this one take it over: set the annotation ${annotation.takeOver} to ${installation}, ` +
    'or start the operator with --take-over for all'
  );
}

function isForeign(object: ManagedObject): boolean {
  const ready = conditionOf(object, 'Ready');
  return ready?.reason === 'Conflict' && ready.message.startsWith('this resource is managed by another installation');
}
