import type { Flight } from '../../core/network.ts';
import { type Fields, fieldsOf, parsed, textOf } from './json.ts';
import { type AccountID, Keys } from './keys.ts';
import { installationOf } from './who.ts';
import { perWorld, type Witness } from './witness.ts';

/** What a path of the cloud names. */
export type Target =
  | { readonly kind: 'list'; readonly collection: string }
  | { readonly kind: 'object'; readonly collection: string; readonly id: string }
  | { readonly kind: 'module'; readonly path: string }
  | { readonly kind: 'other' };

/** One call that a cloud answered, whether or not the answer arrived. */
export interface Call {
  readonly flight: Flight;
  readonly at: number;
  readonly sentAt: number;
  readonly process: string;
  /** Undefined: a person. */
  readonly installation: string | undefined;
  readonly service: string;
  readonly key: string;
  /** Undefined: the key opens none. */
  readonly account: AccountID | undefined;
  readonly method: string;
  readonly path: string;
  readonly target: Target;
  readonly status: number;
  /** The object or module that it made, changed or removed. */
  readonly thing: Thing | undefined;
}

/** One change of an object or module of the cloud. */
export interface Edit {
  readonly at: number;
  readonly sentAt: number;
  readonly process: string;
  readonly installation: string | undefined;
  readonly method: string;
  readonly key: string;
  /** What was sent. */
  readonly body: Fields;
}

/** An object or a module of an account, from its making to its end. */
export interface Thing {
  /** Id, or path of the module. */
  readonly name: string;
  /** Of an object; `module` for modules. */
  readonly collection: string;
  readonly account: AccountID;
  /** Who made it; of a module, who put it last where there was none. */
  made: Edit;
  /** As the service showed it last; undefined once it is gone. */
  content: Fields | undefined;
  /** The last ones, oldest first. */
  readonly edits: Edit[];
  gone: Edit | undefined;
}

const editLimit = 64;

/** The accounts of every cloud, from the calls that were answered alone. */
export class CloudModel {
  readonly keys: Keys;
  /** Told of every call, after what it did is in the model. */
  readonly calls = new Set<(call: Call) => void>();
  /** By account and name, those that are gone too. */
  readonly #things = new Map<string, Thing>();
  /** Of objects, by id alone. */
  readonly #byID = new Map<string, Thing>();
  /** How many objects live, by account and collection. */
  readonly #counts = new Map<string, number>();

  constructor(world: Witness) {
    this.keys = new Keys(world.story);
    world.network.observers.add((flight) => this.#see(flight));
  }

  get things(): Iterable<Thing> {
    return this.#things.values();
  }

  /** An object or module, also one that is gone. */
  thing(account: AccountID, name: string): Thing | undefined {
    return this.#things.get(`${account} ${name}`);
  }

  object(id: string): Thing | undefined {
    return this.#byID.get(id);
  }

  count(account: AccountID, collection: string): number {
    return this.#counts.get(`${account} ${collection}`) ?? 0;
  }

  #see(flight: Flight): void {
    const { to, answer, from, method } = flight;
    if (to.name === 'kube' || answer === undefined) return;
    const [path = ''] = flight.path.split('?');
    const target = targetOf(path);
    if (target.kind === 'other') return;
    const key = keyOf(flight);
    const account = this.keys.accountOf(to.name, key);
    const call = {
      flight,
      at: flight.arrivedAt ?? flight.sentAt,
      sentAt: flight.sentAt,
      process: from.name,
      installation: installationOf(from.name),
      ...{ service: to.name, key, account, method, path: decoded(path), target, status: answer.status },
    };
    const thing = method === 'GET' || account === undefined ? undefined : this.#apply(call, account, answer.body);
    for (const listen of this.calls) listen({ ...call, thing });
  }

  #apply(call: Omit<Call, 'thing'>, account: AccountID, answer: string): Thing | undefined {
    const { target, method, status } = call;
    const { at, sentAt, process, installation, key, flight } = call;
    const edit: Edit = { at, sentAt, process, installation, method, key, body: fieldsOf(parsed(flight.body)) };
    if (status >= 300) return this.#named(account, target);
    if (method === 'POST' && target.kind === 'list') return this.#make(account, target.collection, edit, answer);
    const thing = this.#named(account, target);
    if (target.kind === 'module' && method === 'PUT') return this.#put(account, target.path, edit, answer);
    if (thing === undefined) return undefined;
    if (method === 'DELETE') this.#remove(thing, edit);
    else this.#change(thing, edit, answer);
    return thing;
  }

  #named(account: AccountID, target: Target): Thing | undefined {
    if (target.kind === 'object') return this.thing(account, target.id);
    return target.kind === 'module' ? this.thing(account, target.path) : undefined;
  }

  #make(account: AccountID, collection: string, edit: Edit, answer: string): Thing | undefined {
    const content = fieldsOf(parsed(answer));
    const name = textOf(content.id);
    if (name === undefined) return undefined;
    const thing: Thing = { name, collection, account, made: edit, content, edits: [edit], gone: undefined };
    this.#things.set(`${account} ${name}`, thing);
    this.#byID.set(name, thing);
    this.#add(thing, 1);
    return thing;
  }

  #put(account: AccountID, path: string, edit: Edit, answer: string): Thing {
    const known = this.thing(account, path);
    if (known === undefined) {
      const content = fieldsOf(parsed(answer));
      const thing: Thing = {
        name: path,
        collection: 'module',
        account,
        made: edit,
        content,
        edits: [edit],
        gone: undefined,
      };
      this.#things.set(`${account} ${path}`, thing);
      return thing;
    }
    if (known.gone !== undefined) known.made = edit;
    known.gone = undefined;
    this.#change(known, edit, answer);
    return known;
  }

  #change(thing: Thing, edit: Edit, answer: string): void {
    thing.content = fieldsOf(parsed(answer));
    keep(thing, edit);
  }

  #remove(thing: Thing, edit: Edit): void {
    if (thing.gone === undefined) this.#add(thing, -1);
    thing.content = undefined;
    thing.gone = edit;
    keep(thing, edit);
  }

  #add({ account, collection }: Thing, more: number): void {
    if (collection === 'module') return;
    const key = `${account} ${collection}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + more);
  }
}

export const cloudModelOf = perWorld((world) => new CloudModel(world));

export function isMutating({ method }: Pick<Call, 'method'>): boolean {
  return method !== 'GET';
}

/** The service did what it was asked. */
export function succeeded({ status }: Pick<Call, 'status'>): boolean {
  return status < 300;
}

export function keyOf({ headers }: Pick<Flight, 'headers'>): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}

/** Cloud Management API, section 4. */
export function targetOf(path: string): Target {
  const [, collection, id] = /^\/(reserved_addrs|bot_users|endpoints)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (collection !== undefined && id === undefined) return { kind: 'list', collection };
  if (collection !== undefined && id !== undefined) return { kind: 'object', collection, id: decoded(id) };
  return /^\/edges\/(https|tls)\/[^/]+\/.+/.test(path) ? { kind: 'module', path: decoded(path) } : { kind: 'other' };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function keep({ edits }: Thing, edit: Edit): void {
  edits.push(edit);
  if (edits.length > editLimit) edits.splice(0, editLimit >> 1);
}
