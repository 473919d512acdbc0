import { keyOf } from '../../kube/types.ts';
import { annotation } from '../annotations.ts';
import type { ReconcileContext } from '../context.ts';
import { type Flow, isKept } from '../flow.ts';
import type { Kind, KindDefinition } from '../kind.ts';
import { type KindOptions, kindController, spread } from '../kind-controller.ts';
import { type Outcome, type Report, reportFailure } from '../outcome.ts';
import { appliedParts, placeOf, placeRecord } from '../ownership.ts';
import { References } from '../references.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import { parseSpec } from '../spec.ts';
import type { Annotations } from '../writer.ts';
import type { PartStatus, PartsContract } from './part.ts';
import { type PartPlan, PartReconciler, type PartResult, type Seen } from './part-reconciler.ts';
import { type NamedReport, summarise } from './summary.ts';

/** A kind that is a set of parts of one parent. */
export function partsKind<Spec extends ManagedSpec, Client>(
  definition: KindDefinition,
  contract: PartsContract<Spec, Client>,
): Kind<KindOptions<Client>> & { readonly contract: PartsContract<Spec, Client> } {
  return {
    definition,
    contract,
    controller: (options) => {
      const epoch = options.monotonic.now();
      return kindController(definition.type, options, (enqueue) => ({
        flow: new PartsFlow(
          contract,
          new References({ ...options, enqueue: (user, initial) => initial || enqueue(user) }),
        ),
        // Checks of parts are calls of their own: spread over the interval, so that no two rounds bunch up.
        epochOf: (object: ManagedObject) => epoch - spread(object.metadata.uid ?? ''),
      }));
    },
  };
}

/**
 * The flow of kinds made of parts, each a module of the same parent. The parts do not wait for each other; what the
 * resource applies is on durable record before the call that applies it.
 */
export class PartsFlow<Spec extends ManagedSpec, Client> implements Flow<Client> {
  readonly #contract: PartsContract<Spec, Client>;
  readonly #references: References;
  readonly #seen: Seen = new Map();

  constructor(contract: PartsContract<Spec, Client>, references: References) {
    this.#contract = contract;
    this.#references = references;
  }

  /** Who only observes claims nothing. */
  claims(object: ManagedObject): readonly string[] {
    if (object.spec.managementPolicy === 'Observe') return [];
    const names = new Set([...this.#namedBy(object), ...appliedParts(object)]);
    return [...names].map((name) => this.#claim(object, name));
  }

  async ensure(context: ReconcileContext<Client>): Promise<Outcome> {
    const parsed = parseSpec(this.#contract.spec, context.object);
    if ('report' in parsed) return parsed.report;
    const parts = this.#partsOf(context, parsed.spec);
    const session = this.#references.session(keyOf(context.object));
    const plans = await Promise.all(parts.map((part) => part.plan(session.read)));
    session.end();
    const object = await this.#record(context, parts, plans);
    const results = await Promise.all(parts.map((part, index) => part.act(plans[index] as PartPlan)));
    const held = await this.#forgetForeign(context, object, parts, results);
    return { ...this.#summary(context, parsed.spec, parts, results), ...ownership(context, held) };
  }

  leavesNothing(object: ManagedObject): boolean {
    return isKept(object) || appliedParts(object).size === 0;
  }

  async remove(context: ReconcileContext<Client>): Promise<Outcome> {
    const applied = appliedParts(context.object);
    const parts = this.#partsOf(context, idsOf<Spec>(context.object)).filter(({ part }) => applied.has(part.name));
    const reports = await Promise.all(
      parts.map(async (each): Promise<NamedReport[]> => {
        const failure = await each.delete().catch(reportFailure);
        return failure === undefined ? [] : [{ ...each.part, report: failure }];
      }),
    );
    const failed = reports.flat();
    if (failed.length === 0) {
      await context.writer.removeFinalizer(context.object);
      return { kind: 'finished' };
    }
    // What is gone is not to be removed again: it may be somebody else's by then.
    const removed = applied.difference(new Set(failed.map(({ name }) => name)));
    if (removed.size > 0) await this.#forget(context, context.object, removed);
    const summary = summarise(failed, '');
    return { ...summary, message: `deleting: ${summary.message}` };
  }

  leftBehind(object: ManagedObject): string {
    return `${[...appliedParts(object)].join(', ')} of ${this.#contract.parent(idsOf(object))}`;
  }

  forget(object: ManagedObject): void {
    this.#references.forget(keyOf(object));
    for (const [claim, seen] of this.#seen) if (seen.uid === object.metadata.uid) this.#seen.delete(claim);
  }

  close(): void {
    this.#references.close();
  }

  /** The parts that the spec names, and those that it named once. */
  #partsOf(context: ReconcileContext<Client>, spec: Spec): readonly PartReconciler<Spec, Client>[] {
    const { object } = context;
    const [named, applied] = [this.#namedBy(object), appliedParts(object)];
    const parent = this.#contract.parent(spec);
    return this.#contract.parts
      .filter(({ name }) => named.has(name) || applied.has(name))
      .map((part) => {
        const claim = this.#claim(object, part.name);
        return new PartReconciler(part, {
          context,
          spec,
          parent,
          claim,
          named: named.has(part.name),
          seen: this.#seen,
        });
      });
  }

  /** Before any call that applies them: which parts are this resource's to remove. */
  async #record(
    context: ReconcileContext<Client>,
    parts: readonly PartReconciler<Spec, Client>[],
    plans: readonly PartPlan[],
  ): Promise<ManagedObject> {
    if (context.object.spec.managementPolicy === 'Observe') return context.object;
    const ours = parts.filter((part, index) => part.named && plans[index]?.action.kind !== 'stop');
    const applied = new Set([...appliedParts(context.object), ...ours.map(({ part }) => part.name)]);
    return applied.size === 0 ? context.object : context.writer.record(context.object, appliedRecord(applied, context));
  }

  /** After they are gone, or were refused: which parts are not this resource's. */
  async #forgetForeign(
    context: ReconcileContext<Client>,
    object: ManagedObject,
    parts: readonly PartReconciler<Spec, Client>[],
    results: readonly PartResult[],
  ): Promise<ManagedObject> {
    const foreign = parts.filter((_, index) => results[index]?.isForeign).map(({ part }) => part.name);
    return foreign.length > 0 ? this.#forget(context, object, new Set(foreign)) : object;
  }

  #forget(
    { writer }: ReconcileContext<Client>,
    object: ManagedObject,
    gone: ReadonlySet<string>,
  ): Promise<ManagedObject> {
    return writer.insist(object, (latest) => appliedRecord(appliedParts(latest).difference(gone)));
  }

  #summary(
    context: ReconcileContext<Client>,
    spec: Spec,
    parts: readonly PartReconciler<Spec, Client>[],
    results: readonly PartResult[],
  ): Report {
    const named = parts.flatMap(({ part }, index): NamedReport[] => {
      const report = results[index]?.report;
      return report === undefined ? [] : [{ ...part, report }];
    });
    const summary = summarise(named, `${this.#contract.parent(spec)} is as the spec asks`);
    return { ...summary, fields: this.#contract.status(statuses(context.object, parts, results)) };
  }

  #namedBy(object: ManagedObject): ReadonlySet<string> {
    const isNamed = ({ name, condition }: { name: string; condition: string | undefined }) =>
      condition === undefined || object.spec[name] !== undefined;
    return new Set(this.#contract.parts.filter(isNamed).map(({ name }) => name));
  }

  #claim(object: ManagedObject, name: string): string {
    return `${this.#contract.parent(idsOf(object))} ${name}`;
  }
}

/** What tells where the parts are. */
type Held = Pick<ReconcileContext<never>, 'object'> & { readonly connection: { readonly url?: string } };

/** The account that holds them stays on record as it is where no context is given, also of no parts: it tells an empty record from a lost one. */
function appliedRecord(parts: ReadonlySet<string>, context?: Held): Annotations {
  const applied = { [annotation.appliedParts]: parts.size === 0 ? null : [...parts].sort().join(',') };
  if (context === undefined) return applied;
  return { ...applied, ...placeRecord(context) };
}

/** What is this resource's from now on, for the status. */
function ownership({ connection, object: { spec } }: Held, object: ManagedObject): Pick<Report, 'ownership'> {
  const parts = [...appliedParts(object)].sort();
  if (spec.managementPolicy === 'Observe') return {};
  if (parts.length === 0) return { ownership: {} };
  return { ownership: { ...placeOf({ object, connection }), how: 'Applied', parts } };
}

/** For what needs the ids of the parent only, which the CRD guarantees: a resource must always be deletable. */
function idsOf<Spec>(object: ManagedObject): Spec {
  return object.spec as Spec;
}

/** What is not known now stays as it was shown; a part that is not asked for is not shown. */
function statuses<Spec extends ManagedSpec, Client>(
  object: ManagedObject,
  parts: readonly PartReconciler<Spec, Client>[],
  results: readonly PartResult[],
): ReadonlyMap<string, PartStatus> {
  const shown = new Map<string, PartStatus>();
  for (const [index, { part, named }] of parts.entries()) {
    const { observed, report } = results[index] ?? {};
    const before = part.condition === undefined ? object.status : object.status?.[part.name];
    const fields = observed === undefined ? { ...(before as object) } : part.status(observed);
    if (named) shown.set(part.name, { ...fields, applied: report?.reason === 'Available' });
  }
  return shown;
}
