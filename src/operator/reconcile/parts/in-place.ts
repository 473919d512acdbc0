import type { ReconcileContext } from '../context.ts';
import { fingerprint } from '../resource/json.ts';
import type { PartInPlace } from '../resource/memory.ts';
import { generationsOf } from './generations.ts';

type Context = Pick<ReconcileContext<unknown>, 'resource' | 'facts' | 'connection' | 'time'>;

/** Of so many keys, which may be of as many accounts. */
const mostKeys = 3;

export interface InPlaceOptions {
  /** The field of the spec. */
  readonly name: string;
  readonly condition: string | undefined;
  readonly spec: object;
  /** On record from an earlier reconcile. */
  readonly applied: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: only the part reads its body
  unset?(body: any): readonly string[];
}

/** A part as this process last knew it to be in place, which is what the service may still have. */
export class InPlace {
  readonly #context: Context;
  readonly #options: InPlaceOptions;

  constructor(context: Context, options: InPlaceOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Another one than is asked for; false where none is known. */
  isOtherThan(body: unknown): boolean {
    const known = this.#known()?.fingerprint;
    return known !== undefined && known !== fingerprint(body);
  }

  /**
   * Fields that were set and are not asked for any more; undefined where an earlier process may have set any. What is missing at
   * the very generation that set it was taken out by a definition that does not know it, and is asked for still.
   */
  leftOut(body: unknown): readonly string[] | undefined {
    const { fields, generation } = this.#known() ?? { fields: [] };
    const unset = this.#options.unset?.(body) ?? [];
    if (unset.length === 0 || generation === this.#generation) return [];
    return fields?.filter((field) => unset.includes(field));
  }

  /** @param at when it was asked for, or read */
  set(body: unknown, at: number): void {
    const known = this.#known();
    const fields = known?.generation === this.#generation ? this.#fieldsWith(known) : this.#fields();
    this.#set({ fingerprint: fingerprint(body), fields, generation: this.#generation, at });
  }

  /** What is asked for was sent at that time, and may have been carried out. */
  setLost(at: number): void {
    // Where nothing is known no earlier spec set anything else.
    const known = this.#known() ?? { fingerprint: undefined, fields: [], generation: this.#generation };
    this.#set({ ...known, fields: this.#fieldsWith(known), at });
  }

  /** This process put it there, or found it as asked, with the key in force; the status may not say so yet. */
  isOfThisKey(): boolean {
    const all = this.#context.facts.inPlace?.get(this.#options.name) ?? [];
    return all.some((each) => !this.#isOfAnotherKey(each));
  }

  /** It is gone, or another one's: what is there from now on is not what this process knew. */
  forget(): void {
    this.#context.facts.inPlace?.delete(this.#options.name);
  }

  #known(): PartInPlace | undefined {
    const { name, condition, applied } = this.#options;
    const { resource, facts, time } = this.#context;
    const all = facts.inPlace?.get(name);
    // A key that is new may be of the same account; one that is back is of the account that it was of.
    const known = all?.find((each) => !this.#isOfAnotherKey(each)) ?? all?.[0];
    if (known !== undefined) return known;
    const generation = this.#generation;
    // Else it may be as an earlier spec asked: of that no status tells.
    const isAsAsked =
      !applied || generation === 1 || generationsOf(resource.object, this.#options).inPlace === generation;
    if (condition === undefined || isAsAsked) return undefined;
    // Not remembered: what was read may be behind.
    return { fingerprint: undefined, fields: undefined, generation: undefined, at: time.now() };
  }

  get #generation(): number {
    return this.#context.resource.object.metadata.generation ?? 1;
  }

  #isOfAnotherKey({ at }: PartInPlace): boolean {
    return this.#context.connection.hadAnotherKey?.(at) === true;
  }

  #set(known: PartInPlace): void {
    const { facts } = this.#context;
    const { name } = this.#options;
    facts.inPlace ??= new Map();
    const others = facts.inPlace.get(name)?.filter((each) => this.#isOfAnotherKey(each)) ?? [];
    facts.inPlace.set(name, [known, ...others].slice(0, mostKeys));
  }

  #fieldsWith({ fields }: Pick<PartInPlace, 'fields'>): readonly string[] | undefined {
    return fields && [...new Set([...fields, ...this.#fields()])];
  }

  /** None where the part is the whole resource, in which no field may be left out. */
  #fields(): readonly string[] {
    const asked = (this.#options.spec as Readonly<Record<string, unknown>>)[this.#options.name] ?? {};
    return Object.entries(asked).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  }
}
