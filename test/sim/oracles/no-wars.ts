import type { Report } from '../core/run.ts';
import { wasDeniedAlone } from './verdicts/denied.ts';
import { hasLostItsMark, wasForgottenByRestore, wasMadeTooLate } from './verdicts/left-behind.ts';
import { contested } from './verdicts/strangers.ts';
import { type Call, succeeded, type Thing } from './witness/cloud-model.ts';
import { disturbancesOf } from './witness/disturbances.ts';
import { asksFor } from './witness/implied.ts';
import { canonical } from './witness/json.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { type Mutation, mutationsOf } from './witness/mutations.ts';
import { kindsOfCollection } from './witness/ownership.ts';
import type { Resource } from './witness/resource.ts';
import { ByKey, RollingCount } from './witness/rolling-count.ts';
import { hour, type Witness } from './witness/witness.ts';

/** In an hour in which nobody asks for anything else. */
const mostChanges = 6;
/** Design: what is refused is tried six times an hour; once more when a process is started. */
const mostRefusals = 8;
const mostCreates = 2;
/** What a trouble may cost more. */
const perDisturbance = 4;

/** Nothing is changed over and over, made over and over, or refused over and over. */
export function noWars(world: Witness, report: Report) {
  const wars = new Wars(world);
  mutationsOf(world).listeners.add((mutation) => {
    const why = wars.of(mutation);
    if (why !== undefined) report('no-wars', why);
  });
  return {};
}

class Wars {
  readonly #world: Witness;
  readonly #changes = new ByKey(() => new RollingCount(hour));
  readonly #refusals = new ByKey(() => new RollingCount(hour));
  /** Of each content, all that was made. */
  readonly #made = new ByKey((): Thing[] => []);

  constructor(world: Witness) {
    this.#world = world;
  }

  of(mutation: Mutation): string | undefined {
    const { call } = mutation;
    if (call.status === 400 || call.status === 422) return this.#refused(mutation);
    if (!succeeded(call) || call.thing === undefined) return undefined;
    return call.method === 'POST' ? this.#created(call, call.thing) : this.#changed(mutation, call.thing);
  }

  #changed(mutation: Mutation, { account, name, edits }: Thing): string | undefined {
    const { at } = mutation.call;
    const changes = this.#changes.of(account, name);
    changes.add(at);
    if (changes.count(at) <= mostChanges || contested(this.#world).has(name)) return undefined;
    const foreign = edits.filter((edit) => edit.installation === undefined && edit.at > at - hour).length;
    const allowed = mostChanges + foreign + this.#reasonsFor(mutation);
    return changes.count(at) > allowed
      ? `${name} of ${account} is changed more than ${allowed} times in an hour`
      : undefined;
  }

  #refused(mutation: Mutation): string | undefined {
    const { at, method, path, account, flight } = mutation.call;
    const refusals = this.#refusals.of(account, method, path, method === 'POST' ? flight.body : '');
    refusals.add(at);
    if (refusals.count(at) <= mostRefusals) return undefined;
    const allowed = mostRefusals + this.#reasonsFor(mutation);
    return refusals.count(at) > allowed
      ? `${method} ${path} of ${account} is refused more than ${allowed} times in an hour`
      : undefined;
  }

  /** What people asked for in this hour, starts of processes, and what disturbed. */
  #reasonsFor({ call: { at }, installation, owners }: Mutation): number {
    const from = at - hour;
    const edits = owners.flatMap(({ versions }) => versions.during(from, at)).filter(({ by }) => by === undefined);
    const disturbed = disturbancesOf(this.#world).all.filter((each) => each.from <= at && each.to >= from);
    const data = owners.map(({ namespace }) => kubeModelOf(this.#world).changesOfData(namespace, from, at));
    const starts = installation.startsIn(from, at);
    return edits.length + Math.max(0, ...data) + starts + perDisturbance * disturbed.length;
  }

  #created(call: Call, thing: Thing): string | undefined {
    const { at, target } = call;
    const content = `${thing.collection} ${canonical(thing.made.body)}`;
    const made = this.#made.of(content);
    made.push(thing);
    if (made.length <= mostCreates || target.kind !== 'list') return undefined;
    const askedBy = this.#askedBy(thing);
    // What people took away, what went with its resource, what came too late to be found, what a restored backup does not know,
    // what lost its mark while nobody was there, and what the service denied, was to be made again.
    const lost = made.filter(
      (each) =>
        (each.gone !== undefined && each.gone.at < at && each.gone.installation === undefined) ||
        wasMadeTooLate(this.#world, each) ||
        wasForgottenByRestore(this.#world, each) ||
        askedBy.some(
          (resource) =>
            hasLostItsMark(this.#world, resource, each) || wasDeniedAlone(this.#world, resource, each, call),
        ),
    );
    const allowed = mostCreates * Math.max(1, askedBy.length) + lost.length;
    if (made.length <= allowed) return undefined;
    return `${askedBy.map(({ key }) => key).join(', ')}: more than ${allowed} objects ${JSON.stringify(thing.made.body)} were made`;
  }

  #askedBy({ collection, made }: Thing): readonly Resource[] {
    const kind = kindsOfCollection[collection];
    if (kind === undefined) return [];
    return [...kubeModelOf(this.#world).ofKind(kind)].filter(({ versions }) =>
      versions.all.some(({ spec }) => asksFor(kind, spec, made.body)),
    );
  }
}
