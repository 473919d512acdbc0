import { silentLog } from '../../common/log.ts';
import type { Connection } from './connections/connection.ts';
import type { ReconcileContext } from './context.ts';
import { Peers } from './ownership/peers.ts';
import { CurrentResource } from './resource/current-resource.ts';
import { Memory } from './resource/memory.ts';
import type { ManagedObject } from './resource/resource.ts';
import type { ObjectWriter } from './resource/writer.ts';
import { Journal, type Recorder } from './status/events.ts';

export interface Given<Client> {
  readonly writer: Partial<ObjectWriter>;
  readonly connection: Connection<Client>;
  /** Default one that remembers nothing. */
  readonly memory?: Memory;
  /** Of both clocks; default always 0. */
  readonly now?: () => number;
  readonly record?: Recorder['record'];
  /** Others that claim the same; default nobody. */
  readonly claimants?: (claim: string) => readonly ManagedObject[];
}

/** One reconcile of a resource that a person asked for and that has no rivals. */
export function contextOf<Client>(
  object: ManagedObject,
  { writer, connection, memory = new Memory(), now = () => 0, record = () => {}, claimants = () => [] }: Given<Client>,
): ReconcileContext<Client> {
  const there: Partial<ObjectWriter> = { confirm: async (same) => same, fateOf: async () => 'stays' };
  const facts = memory.of(object.metadata.uid ?? '');
  const resource = new CurrentResource(object, { ...there, ...writer } as ObjectWriter, facts);
  const index = { get: () => object, list: () => [object], claimants };
  return {
    ...{ resource, connection },
    facts,
    occasion: { startedAt: now(), requested: true, drift: false, lastDue: () => 0 },
    call: { priority: 'change', signal: new AbortController().signal },
    peers: new Peers({ index, memory, accountOf: () => ({ identity: 'default' }) }),
    time: { now, wall: now },
    journal: new Journal(resource, { log: silentLog, events: { record } }),
  };
}
