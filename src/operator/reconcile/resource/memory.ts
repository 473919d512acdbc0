import type { Reason } from '../status/reasons.ts';

/** Two witnesses of one absence are this far apart. */
export const witnessesApartMs = 3_000;

/** A part as it was asked for. */
export interface PartInPlace {
  /** Undefined where this process has not seen it. */
  readonly fingerprint: string | undefined;
  /** The fields that the spec set, then or in a change of unknown fate since; undefined: any. */
  readonly fields: readonly string[] | undefined;
  /** Of the spec that it is as asked by; undefined where this process has not seen it so. */
  readonly generation: number | undefined;
  /** When it was asked for: with the key that was in force then. */
  readonly at: number;
}

/** What the cloud refused, or had nothing to be done to: when, and until when it is not attempted again. */
export interface Refusal {
  readonly reason: Reason;
  readonly message: string;
  readonly stalled: boolean;
  readonly at: number;
  readonly until: number;
  readonly pauseMs: number;
}

/** What one process remembers of one resource: nothing that it need not, for there are many. Moments are of the monotonic clock. */
export interface Facts {
  /**
   * When this process sent the resource's unresolved create, if it did; lost sight of it, or first met it; and first looked;
   * whether a person said that what is not found is gone; and when it first met the resource as one that is to go.
   */
  unresolved?: {
    readonly sentAt?: number;
    readonly since: number;
    lookedAt?: number;
    confirmed?: boolean;
    goesSince?: number;
  };
  /**
   * The external object that an answer said is not there, and when it did first and last: one witness, which needs another;
   * when it was known that a person says that it is gone; and whether so much else was missing that it was doubted.
   */
  absent?: {
    readonly id: string;
    readonly at: number;
    readonly lookedAt: number;
    readonly saidAt?: number;
    readonly isDoubted?: boolean;
  };
  /**
   * The external object that was there, and when it was for the first time, and was asked for, for the last one; and the key mark
   * that its resource had when this process met it.
   */
  seen?: { readonly id: string; readonly firstAt: number; readonly at: number; readonly keyMark?: string | undefined };
  /**
   * The external object that this process created, or adopted as created, and when it asked for that; and what it asked for, and
   * between which moments of the service's clock that was made, as long as nothing but the answer has shown it.
   */
  made?: {
    readonly id: string;
    readonly at: number;
    unshown?: { readonly content: string; readonly backTo: number; readonly upTo: number };
  };
  /** Its last create was refused in other words than the service's, and so perhaps carried out; and so was the one before. */
  refusedCreate?: { readonly content: string; readonly message: string; readonly isAgain: boolean };
  /** External objects that this resource made, and that were taken for gone; the latest first. */
  former?: readonly string[];
  /** How often what vanished was created again, and when for the last time. */
  recreated?: { readonly times: number; readonly at: number };
  /** The external object whose delete was answered with a 404, and when. */
  deniedDelete?: { readonly id: string; readonly at: number };
  /** The annotation without effect that it was told of. */
  unknownAnnotation?: string;
  /** Since when it waits for what the operator's own work brings. */
  pendingSince?: number;
  /** When a call for the resource last failed: what was known before that is not to be relied on. */
  failedAt?: number;
  /** When calls for it first and last failed, since a person asked for anything, or it was as asked, or waited for something else. */
  failing?: { readonly since: number; readonly at: number };
  /** By what was attempted. */
  refused?: Map<string, Refusal>;
  /** Of the object that was put back, and of each part that was changed, which fields were sent to have it as one spec asks. */
  sent?: Map<string, { readonly as: string; readonly fields: readonly string[] }>;
  /** What it left to another one who has it too, by claim: that one is not to leave it to this one. */
  left?: Set<string>;
  /** This process has written to the resource, or read it from Kubernetes itself: it was there then. */
  wasThere?: boolean;
  /** Of each part what this process last knew to be in place with each key, the last first: where another is asked for, that is no drift. */
  inPlace?: Map<string, readonly PartInPlace[]>;
  /** The parts that an answer said are not there, and when. */
  absentParts?: Map<string, number>;
  /** The parts whose change was sent and not answered, and when; an earlier process' may have been until this one met them. */
  lostParts?: Map<string, number>;
  /** When a start of its tunnel was sent and not answered; an earlier process' may have been until this one met it. */
  lostStart?: number;
  /** The start of its tunnel that was answered, by when it was asked for. */
  answeredStart?: string | undefined;
  /** What the agent showed of it then, where that is otherwise than asked and not on record yet. */
  answeredLook?: { readonly look: string; readonly inspect?: boolean | undefined } | undefined;
  /** Since when nobody is where its tunnel is to be stopped, or no request may go there. */
  cutOffSince?: number;
  /** The generation that the external object was last seen to be as asked for. */
  realizedGeneration?: number;
  /** External object that is known to be deleted while its resource still waits to go. */
  deletedID?: string;
  /** It is released, or is about to be: what it made is gone, or was left behind as a person asked. */
  isLetGo?: boolean;
  /** What it made is at another address than its account is now, or is another installation's. */
  isElsewhere?: boolean;
  /** What is to be on record, as far as this process knows; and until when what another one wrote may come to light. See records.ts. */
  records?: Readonly<Record<string, string>>;
  recordsOpenUntil?: number;
  /** The object was observed at least once by this process. */
  observed?: boolean;
}

/** Facts about resources that are worth remembering between two reconciles; losing them costs calls, never correctness. */
export class Memory {
  readonly #facts = new Map<string, Facts>();

  of(uid: string): Facts {
    const known = this.#facts.get(uid);
    if (known !== undefined) return known;
    const fresh: Facts = {};
    this.#facts.set(uid, fresh);
    return fresh;
  }

  /** As `of`, without keeping anything for a resource that nothing is remembered of. */
  known(uid: string): Readonly<Facts> {
    return this.#facts.get(uid) ?? {};
  }

  forget(uid: string): void {
    this.#facts.delete(uid);
  }
}
