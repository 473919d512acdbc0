import type { OddItem } from '../../../common/odd-item.ts';
import { ManualClock } from '../../controller/manual-clock.fixture.ts';
import { contextOf } from '../context.fixture.ts';
import { Peers } from '../ownership/peers.ts';
import { annotation } from '../resource/annotations.ts';
import { Memory } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { AccountObjects } from './account-objects.ts';
import { Census } from './census.ts';
import { Claims } from './claims.ts';
import { Presence } from './presence.ts';

interface Thing {
  readonly id: string;
}

export const settleMs = 10_000;
/** What a test sets, anew before each. */
export const scene = {
  clock: new ManualClock(),
  there: [] as readonly Thing[],
  /** What is there, and lists do not show. */
  unlisted: [] as readonly Thing[],
  /** So many were asked for by id. */
  gets: 0,
  /** What lists have beside it. */
  odd: [] as readonly OddItem[],
  /** What happens while a list is under way. */
  onList: () => {},
};

export function setScene(): void {
  Object.assign(scene, { clock: new ManualClock(), there: [], unlisted: [], gets: 0, odd: [], onList: () => {} });
}

function resource(name: string, more: Partial<ManagedObject>): ManagedObject {
  const metadata = { name, namespace: 'ns', uid: name, ...more.metadata };
  return { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', spec: {}, ...more, metadata };
}

/** Its status says what it made, as only the operator writes it. */
export const proven = (name: string, how: 'Created' | 'Imported' = 'Created') =>
  resource(name, { status: { ownership: { installation: 'one', account: 'default', how, id: name } } });

/** Its annotations say so, as whoever may write the resource writes them. */
export const unproven = (name: string) => {
  const annotations = { [annotation.recordOf]: name, [annotation.createdID]: name, [annotation.account]: 'default' };
  return resource(name, { metadata: { name, annotations } });
};

/** Its create is under way, or its answer not on record yet. */
export const begun = (name: string) => {
  const annotations = { [annotation.recordOf]: name, [annotation.createIntent]: '{}', [annotation.account]: 'default' };
  return resource(name, { metadata: { name, annotations } });
};

interface TestConnection {
  readonly key: string;
  readonly client: undefined;
  readonly url?: string;
  since?: number;
  hadAnotherKey?: (at: number) => boolean;
  keyMark?: string;
  confirmedAt?: number;
  readKey?: () => Promise<boolean>;
}

/** Of the first one's object. */
export function presenceOf(
  all: readonly [ManagedObject, ...ManagedObject[]],
  {
    census = new Census(),
    connection = { key: 'default', client: undefined },
    memory = new Memory(),
  }: { readonly census?: Census; readonly connection?: TestConnection; readonly memory?: Memory } = {},
) {
  const [first] = all;
  const now = () => scene.clock.now();
  const index = { get: () => first, list: () => all, claimants: () => [] };
  const asked = contextOf(first, { writer: {}, connection, memory, now });
  const occasion = { ...asked.occasion, requested: false, lastDue: () => Number.NEGATIVE_INFINITY };
  const context = { ...asked, occasion, peers: new Peers({ index, memory }) };
  const identity = ({ id }: Thing) => ({ id, createdAt: '2030-01-01T00:00:00Z' });
  const objects = new AccountObjects<Thing>({
    claims: new Claims(),
    list: async function* (_: unknown, onOdd: (item: OddItem) => void) {
      scene.onList();
      for (const item of scene.odd) onOdd(item);
      yield* scene.there;
    } as never,
    identityOf: identity,
    now,
  });
  const contract = {
    displayName: 'thing',
    identity,
    get: async (_: undefined, id: string) => {
      scene.gets += 1;
      return [...scene.there, ...scene.unlisted].find((each) => each.id === id);
    },
  };
  const presence = new Presence<Thing, undefined>(context, contract, objects, {
    census,
    createSettleMs: settleMs,
  });
  return { presence, objects, connection, occasion, memory };
}

type Given = readonly [ManagedObject, ...ManagedObject[]];

/** What is said of the first one's object, which two lists and a get do not show. */
export async function saidOf(...all: Given): Promise<string | undefined> {
  const memory = new Memory();
  for (const { metadata } of all) memory.of(metadata.uid ?? '').isElsewhere = metadata.name.startsWith('elsewhere');
  return saidBy(presenceOf(all, { memory }), all);
}

export async function saidBy(
  { presence }: Pick<ReturnType<typeof presenceOf>, 'presence'>,
  [first]: Given,
): Promise<string | undefined> {
  const { name } = first.metadata;
  await presence.observe(name);
  await presence.confirmGone(name);
  scene.clock.advance(settleMs);
  return (await presence.confirmGone(name))?.message;
}
