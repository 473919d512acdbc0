import { conditionOf, type ManagedObject } from '../resource/resource.ts';
import { isSaidForeign } from './foreign.ts';

/** Who is at work there puts a condition right at once, or after a failover. */
const rightingMs = 20_000;
/** How long it is given to answer a change. */
const patienceMs = 60_000;
/** How long it is believed to be at work there, and something to be on its way there, before it is looked whether it has left. */
const trustMs = 86_400_000;
/** Whose names are known of a namespace while they show no work: whoever may write a resource may make names up. */
const mostIdle = 32;

/** Whether to write what there is to say of a resource that another installation manages: now, after a wait, or not at all. */
export type Say =
  | { readonly kind: 'now' }
  | { readonly kind: 'after'; readonly ms: number }
  | { readonly kind: 'never' };

interface Neighbour {
  readonly installation: string;
  /** It may watch some namespaces and not others, or not any more. */
  readonly namespace: string | undefined;
  /** When what this one has to say was written first, or anew, and where it was since. */
  at: number;
  readonly toldOn: Set<string>;
  /** When such a thing was put right; undefined: it never was. */
  rightedAt: number | undefined;
}

/**
 * Other installations of the operator that manage resources which this one watches too. Two that both wrote the condition
 * of one resource would do so for ever. So what this one has to say is written to one resource of a namespace first:
 * whoever is at work there puts it right, and is not contradicted there any more, but where it leaves a change unanswered, and
 * once a day over what has been in trouble for as long: it may have left that, and nobody would say any more what becomes of it.
 */
export class Neighbours {
  readonly #now: () => number;
  readonly #known = new Set<Neighbour>();
  /** Since when a resource waits for its installation to answer a change. */
  readonly #unanswered = new Map<string, number>();
  /** Since when one is not Ready, as far as its installation has been at work. */
  readonly #unready = new Map<string, number>();

  /** @param now milliseconds on the monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Of a resource that `installation` manages. */
  ask(installation: string, object: ManagedObject): Say {
    const now = this.#now();
    const { uid = '', namespace } = object.metadata;
    const neighbour = this.#of(installation, object);
    if (neighbour === undefined) {
      this.#known.add({ installation, namespace, at: now, toldOn: new Set([uid]), rightedAt: undefined });
      this.#dropIdle(namespace);
      return { kind: 'now' };
    }
    if (isSaidForeign(object)) return { kind: 'now' };
    if (!isAtWork(neighbour) && neighbour.toldOn.has(uid)) neighbour.rightedAt = now;
    if (!isAtWork(neighbour)) {
      const say = sayAfter(neighbour.at + rightingMs - now);
      if (say.kind === 'now') neighbour.toldOn.add(uid);
      return say;
    }
    if (!isAnswered(object)) return sayAfter(since(this.#unanswered, uid, now) + patienceMs - now);
    this.#unanswered.delete(uid);
    if (!isReady(object)) return this.#lookAgain(neighbour, uid);
    this.#unready.delete(uid);
    return { kind: 'never' };
  }

  /** What was to be written now could not be: nobody has put it right, and what was known before is so still. */
  unsaid(installation: string, object: ManagedObject): void {
    const neighbour = this.#of(installation, object);
    neighbour?.toldOn.delete(object.metadata.uid ?? '');
    if (neighbour === undefined || neighbour.toldOn.size > 0) return;
    if (neighbour.rightedAt === undefined) this.#known.delete(neighbour);
    else neighbour.at = neighbour.rightedAt;
  }

  #lookAgain(neighbour: AtWork, uid: string): Say {
    const now = this.#now();
    const say = sayAfter(Math.max(neighbour.rightedAt, since(this.#unready, uid, now)) + trustMs - now);
    if (say.kind !== 'now') return say;
    neighbour.toldOn.clear();
    neighbour.toldOn.add(uid);
    neighbour.at = now;
    return say;
  }

  #of(installation: string, { metadata: { namespace } }: ManagedObject): Neighbour | undefined {
    return this.#known.values().find((each) => each.installation === installation && each.namespace === namespace);
  }

  #dropIdle(namespace: string | undefined): void {
    const idle = [...this.#known].filter((each) => each.namespace === namespace && !isAtWork(each));
    for (const each of idle.slice(0, -mostIdle)) this.#known.delete(each);
  }

  /** The resource is gone from Kubernetes. */
  forget(uid: string): void {
    this.#unanswered.delete(uid);
    this.#unready.delete(uid);
    for (const { toldOn } of this.#known) toldOn.delete(uid);
  }
}

type AtWork = Neighbour & { rightedAt: number };

/** It has put right what was written last. */
function isAtWork(neighbour: Neighbour): neighbour is AtWork {
  return neighbour.rightedAt !== undefined && neighbour.rightedAt >= neighbour.at;
}

/** Since when it is so of the resource, which is from now on where nothing is known. */
function since(known: Map<string, number>, uid: string, now: number): number {
  const at = known.get(uid) ?? now;
  known.set(uid, at);
  return at;
}

function sayAfter(ms: number): Say {
  return ms > 0 ? { kind: 'after', ms } : { kind: 'now' };
}

function isAnswered(object: ManagedObject): boolean {
  return conditionOf(object, 'Ready')?.observedGeneration === object.metadata.generation;
}

function isReady(object: ManagedObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}
