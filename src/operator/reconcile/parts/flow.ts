import { keyOf } from '../../kube/types.ts';
import { appliedParts } from '../annotations.ts';
import { accountKeyOf } from '../claims.ts';
import type { Turn } from '../context.ts';
import { type Flow, isKept } from '../flow.ts';
import { type Outcome, type Report, reportFailure } from '../outcome.ts';
import type { References } from '../references.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import { parseSpec } from '../spec.ts';
import type { PartStatus, PartsKind } from './part.ts';
import { PartTurn, type Plan, type Result, type Seen } from './part-reconciler.ts';
import { type NamedReport, summarise } from './summary.ts';

/**
 * The flow of kinds made of parts, each a module of the same parent. The parts do not wait for each other; what the
 * resource applies is on durable record before the call that applies it.
 */
export class PartsFlow<Spec extends ManagedSpec, Client> implements Flow<Client> {
  readonly #kind: PartsKind<Spec, Client>;
  readonly #references: References;
  readonly #seen: Seen = new Map();

  constructor(kind: PartsKind<Spec, Client>, references: References) {
    this.#kind = kind;
    this.#references = references;
  }

  get noun(): string {
    return this.#kind.type.kind;
  }

  claims(object: ManagedObject): readonly string[] {
    const names = new Set([...this.#askedOf(object), ...appliedParts(object)]);
    return [...names].map((name) => this.#claim(object, name));
  }

  async ensure(turn: Turn<Client>): Promise<Outcome> {
    const parsed = parseSpec(this.#kind.spec, turn.object);
    if ('report' in parsed) return parsed.report;
    const parts = this.#partsOf(turn, parsed.spec);
    const session = this.#references.session(keyOf(turn.object));
    const plans = await Promise.all(parts.map((part) => part.plan(session.read)));
    session.end();
    const object = await this.#record(turn, parts, plans);
    const results = await Promise.all(parts.map((part, index) => part.act(plans[index] as Plan)));
    await this.#strike(turn, object, parts, results);
    return this.#summary(turn, parsed.spec, parts, results);
  }

  leavesNothing(object: ManagedObject): boolean {
    return isKept(object) || appliedParts(object).size === 0;
  }

  async remove(turn: Turn<Client>): Promise<Outcome> {
    const applied = appliedParts(turn.object);
    const parts = this.#partsOf(turn, idsOf<Spec>(turn.object)).filter(({ part }) => applied.has(part.name));
    const reports = await Promise.all(
      parts.map(async (each): Promise<NamedReport[]> => {
        const failure = await each.delete().then(() => undefined, reportFailure);
        return failure === undefined ? [] : [{ ...each.part, report: failure }];
      }),
    );
    const failed = reports.flat();
    if (failed.length === 0) {
      await turn.writer.removeFinalizer(turn.object);
      return { kind: 'finished' };
    }
    // What is gone is not to be removed again: it may be somebody else's by then.
    const removed = applied.difference(new Set(failed.map(({ name }) => name)));
    if (removed.size > 0) await turn.writer.strikeApplied(turn.object, removed);
    const summary = summarise(failed, '');
    return { ...summary, message: `deleting: ${summary.message}` };
  }

  leftBehind(object: ManagedObject): string {
    return `${[...appliedParts(object)].join(', ')} of ${this.#kind.parent(idsOf(object))}`;
  }

  forget(object: ManagedObject): void {
    this.#references.forget(keyOf(object));
    for (const [claim, seen] of this.#seen) if (seen.uid === object.metadata.uid) this.#seen.delete(claim);
  }

  close(): void {
    this.#references.close();
  }

  /** The parts that the spec names, and those that it named once. */
  #partsOf(turn: Turn<Client>, spec: Spec): readonly PartTurn<Spec, Client>[] {
    const { object } = turn;
    const [asked, applied] = [this.#askedOf(object), appliedParts(object)];
    const parent = this.#kind.parent(spec);
    return this.#kind.parts
      .filter(({ name }) => asked.has(name) || applied.has(name))
      .map((part) => {
        const claim = this.#claim(object, part.name);
        return new PartTurn(part, { turn, spec, parent, claim, asked: asked.has(part.name), seen: this.#seen });
      });
  }

  /** Before any call that applies them: which parts are this resource's to remove. */
  async #record(
    turn: Turn<Client>,
    parts: readonly PartTurn<Spec, Client>[],
    plans: readonly Plan[],
  ): Promise<ManagedObject> {
    if (turn.object.spec.managementPolicy === 'Observe') return turn.object;
    const ours = parts.filter((part, index) => part.asked && plans[index]?.action.kind !== 'stop');
    const applied = new Set([...appliedParts(turn.object), ...ours.map(({ part }) => part.name)]);
    return applied.size === 0 ? turn.object : turn.writer.recordApplied(turn.object, applied);
  }

  /** After they are gone, or were refused: which parts are not this resource's. */
  async #strike(
    turn: Turn<Client>,
    object: ManagedObject,
    parts: readonly PartTurn<Spec, Client>[],
    results: readonly Result[],
  ): Promise<void> {
    const foreign = parts.filter((_, index) => results[index]?.isForeign).map(({ part }) => part.name);
    if (foreign.length > 0) await turn.writer.strikeApplied(object, new Set(foreign));
  }

  #summary(
    turn: Turn<Client>,
    spec: Spec,
    parts: readonly PartTurn<Spec, Client>[],
    results: readonly Result[],
  ): Report {
    const named = parts.flatMap(({ part }, index): NamedReport[] => {
      const report = results[index]?.report;
      return report === undefined ? [] : [{ ...part, report }];
    });
    const summary = summarise(named, `${this.#kind.parent(spec)} is as the spec asks`);
    return { ...summary, fields: this.#kind.status(statuses(turn.object, parts, results)) };
  }

  #askedOf(object: ManagedObject): ReadonlySet<string> {
    const isAsked = ({ name, condition }: { name: string; condition: string | undefined }) =>
      condition === undefined || object.spec[name] !== undefined;
    return new Set(this.#kind.parts.filter(isAsked).map(({ name }) => name));
  }

  #claim(object: ManagedObject, name: string): string {
    return `${accountKeyOf(object)} ${this.#kind.parent(idsOf(object))} ${name}`;
  }
}

/** For what needs the ids of the parent only, which the CRD guarantees: a resource must always be deletable. */
function idsOf<Spec>(object: ManagedObject): Spec {
  return object.spec as Spec;
}

/** What is not known now stays as it was shown; a part that is not asked for is not shown. */
function statuses<Spec extends ManagedSpec, Client>(
  object: ManagedObject,
  parts: readonly PartTurn<Spec, Client>[],
  results: readonly Result[],
): ReadonlyMap<string, PartStatus> {
  const shown = new Map<string, PartStatus>();
  for (const [index, { part, asked }] of parts.entries()) {
    const { observed, report } = results[index] ?? {};
    const before = part.condition === undefined ? object.status : object.status?.[part.name];
    const fields = observed === undefined ? { ...(before as object) } : part.status(observed);
    if (asked) shown.set(part.name, { ...fields, applied: report?.reason === 'Available' });
  }
  return shown;
}
