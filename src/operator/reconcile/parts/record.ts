import type { ReconcileContext } from '../context.ts';
import { appliedParts, isObserver, ownershipOf, placeOf, placeRecord } from '../ownership/ownership.ts';
import { annotation } from '../resource/annotations.ts';
import type { Ownership, PartGenerations } from '../resource/resource.ts';
import type { Annotations } from '../resource/writer.ts';
import type { Report } from '../status/outcome.ts';

type Context = Pick<ReconcileContext<unknown>, 'resource' | 'connection'>;

/** What one reconcile came to know, by the names of the parts. */
interface Learned {
  /** For which a call was made, or which are as asked for. */
  readonly tried?: readonly string[];
  /** Of which a change had no answer. */
  readonly unanswered: readonly string[];
  /** That another one has; as before where none is looked for. */
  readonly contested?: readonly string[];
  /** Of all that this release knows. */
  readonly generations?: Readonly<Record<string, PartGenerations>>;
}

/** Which parts are one resource's: those that it applied. */
export class PartsRecord {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Before any call that applies them: they are this resource's to remove. */
  async add(names: readonly string[]): Promise<void> {
    const { resource, connection } = this.#context;
    const applied = new Set([...appliedParts(resource.object), ...names]);
    if (applied.size > 0) await resource.record({ ...listOf(applied), ...placeRecord(connection) });
  }

  /**
   * After they are gone, or were refused: they are not this resource's. The account that held them stays on record, also
   * of no parts: it tells an empty record from a lost one.
   */
  async remove(names: ReadonlySet<string>): Promise<void> {
    if (names.size === 0) return;
    const { resource } = this.#context;
    // Not of what stands there by now: somebody may have changed that.
    const left = appliedParts(resource.object).difference(names);
    await resource.insist(() => listOf(left));
  }

  /**
   * What is this resource's from now on, for the status: what that said before, and what was learned. An annotation alone, which
   * anyone may have written, does not become proof.
   */
  ownership({ tried = [], unanswered, contested, generations }: Learned): Pick<Report, 'ownership'> {
    const { resource, connection } = this.#context;
    const { object } = resource;
    const before = ownershipOf(object);
    if (isObserver(object)) return asObserved(before);
    const proven = new Set([...(before.parts ?? []), ...tried]);
    const parts = [...appliedParts(object).intersection(proven)].sort();
    const lost = contested ?? before.contested ?? [];
    const more = {
      ...(lost.length === 0 ? {} : { contested: lost.toSorted() }),
      ...(unanswered.length === 0 ? {} : { unanswered: unanswered.toSorted() }),
    };
    if (parts.length === 0) return { ownership: more };
    const of = (name: string) => generations?.[name] ?? before.generations?.[name] ?? {};
    const known = Object.fromEntries(parts.map((name) => [name, of(name)]));
    return { ownership: { ...placeOf(connection), how: 'Applied', parts, generations: known, ...more } };
  }
}

/** What is nothing is at no address: the account may get another. */
function listOf(parts: ReadonlySet<string>): Annotations {
  if (parts.size === 0) return { [annotation.appliedParts]: null, [annotation.apiURL]: null };
  return { [annotation.appliedParts]: [...parts].sort().join(',') };
}

/** Who only observes asks for nothing: of what another one has, what he is proven to have too stays on record. */
function asObserved({ contested, ...rest }: Ownership): Pick<Report, 'ownership'> {
  if (contested === undefined) return {};
  const lost = contested.filter((name) => rest.parts?.includes(name));
  return { ownership: lost.length === 0 ? rest : { ...rest, contested: lost } };
}
