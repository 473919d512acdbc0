import { ApiError } from '../../../common/http/errors.ts';
import { keySinceOf } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { leaveTo } from '../ownership/leave-to.ts';
import { isObserver, standingToRemovePart } from '../ownership/ownership.ts';
import { unlessTaken } from '../permits.ts';
import { witnessesApartMs } from '../resource/memory.ts';
import { isDeleting, type ManagedObject } from '../resource/resource.ts';
import { firstPauseMs, type Report, report } from '../status/outcome.ts';
import { unlessRefused } from '../status/refusals.ts';
import type { InPlace } from './in-place.ts';
import {
  type AnyPart,
  absentSince,
  claimThere,
  foundAbsent,
  isProven,
  mayBeKept,
  type PartScope,
  sightOf,
  standingHere,
  unreadMs,
} from './part-scope.ts';

/** The delete of one part, until it is certain that it is gone. */
export class PartRemoval<Spec, Client> {
  readonly #part: AnyPart<Spec, Client>;
  readonly #context: ReconcileContext<Client>;
  readonly #scope: PartScope<Spec>;
  readonly #inPlace: InPlace;

  constructor(
    part: AnyPart<Spec, Client>,
    context: ReconcileContext<Client>,
    scope: PartScope<Spec>,
    inPlace: InPlace,
  ) {
    this.#part = part;
    this.#context = context;
    this.#scope = scope;
    this.#inPlace = inPlace;
  }

  /** What another resource has a better claim to is that one's to delete. Reports while it is not certain that it is gone. */
  async perform(): Promise<Report | undefined> {
    const { claim } = this.#scope;
    const what = `delete ${claim} ${this.#context.connection.key}`;
    return this.#unlessKept(() => unlessRefused(this.#context, what, () => this.#remove()));
  }

  async #unlessKept(remove: () => Promise<Report | undefined>): Promise<Report | undefined> {
    const keeper = this.#keeper();
    if (keeper !== undefined) return this.#leaveTo(keeper);
    if (mayBeKept(this.#part, this.#context, this.#scope)) {
      return this.#waiting(`it is not known yet whose the ${this.#part.displayName} is`, unreadMs);
    }
    return this.#unsettled() ?? remove();
  }

  /** @param isSeen what said that it is not there was something else */
  async #remove(isSeen = false): Promise<Report | undefined> {
    const { connection, call, facts, time } = this.#context;
    const { spec } = this.#scope;
    const absentAt = absentSince(this.#part, this.#context);
    if (absentAt === undefined) {
      const result = await this.#delete();
      if (result !== 'absent') return this.#gone('removed');
      const unsure = this.#lookAgain(this.#apartMs());
      return isSeen ? { ...unsure, pauseMs: firstPauseMs.unsettled } : unsure;
    }
    const waitMs = absentAt + this.#apartMs() - time.now();
    if (waitMs > 0) return this.#lookAgain(waitMs);
    // What denies lists as well denies everything. Asked before the part: a denial that lasts is met here.
    await connection.probe?.(call);
    facts.absentParts?.delete(this.#part.name);
    const isThere = (await this.#part.get(connection.client, spec, call)) !== undefined;
    if (isThere) return this.#unlessKept(() => this.#remove(true));
    return this.#gone('was gone already');
  }

  async #leaveTo(keeper: ManagedObject): Promise<Report | undefined> {
    const unsure = await leaveTo(this.#context, keeper, this.#scope.claim, this.#part.displayName);
    if (unsure === undefined) this.#inPlace.forget();
    return unsure;
  }

  async #delete(): Promise<'deleted' | 'absent'> {
    const { connection, time } = this.#context;
    const { spec, lostDeletes, createSettleMs } = this.#scope;
    const isTaken = () => this.#keeper() !== undefined || mayBeKept(this.#part, this.#context, this.#scope);
    const call = unlessTaken(this.#context.call, isTaken);
    try {
      return await this.#part.delete(connection.client, spec, call);
    } catch (error) {
      for (const [each, at] of lostDeletes) if (at + createSettleMs <= time.now()) lostDeletes.delete(each);
      if (!(error instanceof ApiError && error.definite)) {
        lostDeletes.set(claimThere(this.#scope, this.#context), time.now());
      }
      throw error;
    }
  }

  #keeper(): ManagedObject | undefined {
    const { peers, resource } = this.#context;
    const standing = standingToRemovePart(this.#part.name, standingHere(this.#part, peers));
    // What is provenly another's is so whatever account his key opens: it may be a wrong one for a minute.
    const isOurs = isProven(this.#part, resource.object) || this.#inPlace.isOfThisKey();
    const reach = isOurs ? 'account' : 'address';
    return peers.keeperOf(resource.object, this.#scope.claim, standing, reach);
  }

  /** How far apart two witnesses are: far, when nobody has seen the part with the key in force, which may be a wrong one. */
  #apartMs(): number {
    const { createSettleMs } = this.#scope;
    const known = sightOf(this.#scope, this.#context);
    const isKnown = known?.observed !== undefined && known.at > keySinceOf(this.#context.connection);
    return isKnown ? witnessesApartMs : Math.max(witnessesApartMs, createSettleMs);
  }

  #gone(how: string): undefined {
    this.#inPlace.forget();
    this.#scope.seen.delete(this.#scope.claim);
    this.#context.journal.event('Deleted', `${this.#part.displayName} of ${this.#scope.parent} ${how}`);
  }

  /**
   * What was sent and not answered may be carried out after the delete: a change would then be nobody's, and a delete would take
   * what the next one put there. Another process, which may be the next one's by then, does not know of it.
   */
  #unsettled(): Report | undefined {
    const { lostParts } = this.#context.facts;
    const { lostDeletes, createSettleMs } = this.#scope;
    const changedAt = lostParts?.get(this.#part.name) ?? Number.NEGATIVE_INFINITY;
    const lostAt = this.#isAwaited() ? lostDeletes.get(claimThere(this.#scope, this.#context)) : undefined;
    const deletedAt = lostAt ?? Number.NEGATIVE_INFINITY;
    const waitMs = Math.max(changedAt, deletedAt) + createSettleMs - this.#context.time.now();
    if (waitMs > 0) {
      return this.#waiting(`an unanswered change of the ${this.#part.displayName} may still be carried out`, waitMs);
    }
    lostParts?.delete(this.#part.name);
    return undefined;
  }

  /** Another one asks for it, and has it next. */
  #isAwaited(): boolean {
    const { peers, resource } = this.#context;
    const isNext = (other: ManagedObject) => other.metadata.uid !== resource.uid && !isDeleting(other);
    return peers.claimants(this.#scope.claim).some((other) => isNext(other) && !isObserver(other));
  }

  /** One answer is one witness. */
  #lookAgain(ms: number): Report {
    foundAbsent(this.#part, this.#context);
    return this.#waiting(`the ${this.#part.displayName} was not found: making sure that it is gone`, ms);
  }

  #waiting(message: string, ms: number): Report {
    const reason = isDeleting(this.#context.resource.object) ? 'Deleting' : 'Updating';
    return report(reason, message, { retry: { kind: 'after', ms } });
  }
}
