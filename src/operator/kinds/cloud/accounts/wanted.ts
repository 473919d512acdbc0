import { Room } from './room.ts';
import type { UseState } from './use-state.ts';

/** How many requests accounts need on record, by name, until that is written. */
export class Wanted {
  readonly #counts = new Map<string, number>();
  readonly #most: () => number;
  #room: { readonly of: UseState; readonly room: Room } | undefined;

  /** @param most characters of the record */
  constructor(most: () => number) {
    this.#most = most;
  }

  /** Answers whether there is room for it in the record. */
  add(name: string, count: number, state: UseState): boolean {
    this.#counts.set(name, count);
    return this.#fits(name, state);
  }

  /** Some of it can be written. */
  hasRoom(state: UseState): boolean {
    return this.#counts.keys().some((name) => this.#fits(name, state));
  }

  /** What there is room for. */
  admitted(state: UseState): ReadonlyMap<string, number> {
    const room = new Room(state, this.#most());
    return new Map([...this.#counts].filter(([name]) => state.named.has(name) || room.take(name)));
  }

  /** So much is on record: who has asked for more meanwhile still wants it. */
  written(admitted: ReadonlyMap<string, number>): void {
    for (const [name, count] of admitted) if (this.#counts.get(name) === count) this.#counts.delete(name);
  }

  /** The others are gone. */
  keepOnly(names: Pick<ReadonlySet<string>, 'has'>): void {
    for (const name of this.#counts.keys()) if (!names.has(name)) this.#counts.delete(name);
  }

  replace(counts: Iterable<readonly [name: string, count: number]>): void {
    this.#counts.clear();
    for (const [name, count] of counts) this.#counts.set(name, count);
  }

  #fits(name: string, state: UseState): boolean {
    if (state.named.has(name)) return true;
    if (this.#room?.of !== state) this.#room = { of: state, room: new Room(state, this.#most()) };
    return this.#room.room.has(name);
  }
}
