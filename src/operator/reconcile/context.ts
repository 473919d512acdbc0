import type { Call } from '../../common/call.ts';
import type { Connection } from './connections/connection.ts';
import type { Occasion } from './occasion.ts';
import type { Peers } from './ownership/peers.ts';
import type { CurrentResource } from './resource/current-resource.ts';
import type { Facts } from './resource/memory.ts';
import type { Journal } from './status/events.ts';

/** Time orders by the one clock, and is written by the other; both in milliseconds. */
export interface Time {
  /** On the monotonic clock: for order and durations, as it is never set. */
  now(): number;
  /** Of the wall, since the epoch: for what is written. */
  wall(): number;
}

/** One reconcile of one resource: what its flow works with. */
export interface ReconcileContext<Client> {
  readonly resource: CurrentResource;
  /** What this process remembers of it. */
  readonly facts: Facts;
  readonly occasion: Occasion;
  /** To what it uses: an account of the cloud, or an agent. */
  readonly connection: Connection<Client>;
  /** What is given to each call for it. */
  readonly call: Call;
  readonly peers: Peers;
  readonly time: Time;
  readonly journal: Journal;
}
