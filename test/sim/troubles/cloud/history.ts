import type { Flight } from '../../core/network.ts';
import { apiKeysOf } from '../../core/story.ts';
import type { World } from '../../core/world.ts';
import { type Item, isCloud, itemsOf } from '../cloud-list.ts';
import { accountsOf } from './keys.ts';

/** What became of one object: undefined once it is deleted. */
interface State {
  readonly since: number;
  readonly item: Item | undefined;
}

type States = Map<string, State[]>;

/**
 * What the objects of the clouds were at which time, as far as answers tell. What was there when it was first seen was
 * always there.
 */
export class CloudHistory {
  readonly close: () => void;
  readonly #accounts: ReadonlyMap<string, string>;
  readonly #lists = new Map<string, States>();

  constructor({ network, scheduler, story }: World) {
    this.#accounts = new Map(accountsOf(apiKeysOf(story.cloud)).map(({ account, key }) => [key, account]));
    const observe = (flight: Flight) => this.#observe(flight, scheduler.now);
    network.observers.add(observe);
    this.close = () => network.observers.delete(observe);
  }

  /** The objects of the list that the request is about, each as it was at a time; undefined what was not there then. */
  at(flight: Flight, time: number): ReadonlyMap<string, Item | undefined> {
    const states = [...(this.#of(flight) ?? new Map<string, State[]>())];
    return new Map(states.map(([id, known]) => [id, known.findLast(({ since }) => since <= time)?.item]));
  }

  #observe(flight: Flight, now: number): void {
    const states = this.#of(flight);
    const { method, answer } = flight;
    if (states === undefined || answer === undefined) return;
    const [, id] = segmentsOf(flight.path);
    if (answer.status === 204 && id !== undefined) states.get(id)?.push({ since: now, item: undefined });
    if (answer.status !== 200 && answer.status !== 201) return;
    if (method === 'GET') {
      for (const item of id === undefined ? itemsOf(answer) : [JSON.parse(answer.body)]) see(states, item);
      return;
    }
    const item: Item = JSON.parse(answer.body);
    if (method !== 'POST') see(states, item);
    states.set(item.id, [...(states.get(item.id) ?? []), { since: now, item }]);
  }

  /** Of the account and collection; undefined for what is no object of a list. */
  #of(flight: Flight): States | undefined {
    const [collection, , ...more] = segmentsOf(flight.path);
    if (!isCloud(flight) || collection === undefined || more.length > 0) return undefined;
    const key = flight.headers.authorization?.replace(/^Bearer +/, '') ?? '';
    const name = `${flight.to.name} ${this.#accounts.get(key)} ${collection}`;
    const states: States = this.#lists.get(name) ?? new Map();
    this.#lists.set(name, states);
    return states;
  }
}

/** What a read tells is news only of an object that was never seen. */
function see(states: States, item: Item): void {
  if (!states.has(item.id)) states.set(item.id, [{ since: Number.NEGATIVE_INFINITY, item }]);
}

const segmentsOf = (path: string) => (path.split('?', 1)[0] ?? '').split('/').filter((part) => part !== '');
