import type { Call, Reserved } from '../../../common/call.ts';

/** An account of the cloud, or an agent: a client, and everything that is shared by those who use it. */
export interface Connection<Client> {
  /** Unique in this operator; that of the default account is `default`. */
  readonly key: string;
  readonly client: Client;
  /** The address of the service. */
  readonly url?: string;
  /** Aborts when it closes; absent where it never does. */
  readonly closed?: AbortSignal;
  /** What the service's clock shows now, in milliseconds since the epoch, by its answers; undefined before the first. */
  serviceTime?(): number | undefined;
  /** When its key was put in force, on the monotonic clock: what was seen before may be another account's. */
  readonly since?: number | undefined;
  /** Another key than the one in force was in force at that time, on the monotonic clock. Absent where there are no keys. */
  hadAnotherKey?(at: number): boolean;
  /** Tells the key in force from others of the account, also later processes (key-mark.ts); undefined where none can be told. */
  readonly keyMark?: string | undefined;
  /**
   * Reads its key afresh, after which another one may be in force; resolves to whether that could be done. Absent where it is known
   * within a second.
   */
  readKey?(call: Call): Promise<boolean>;
  /** When a person confirmed that what vanished from the account is gone, on the monotonic clock. */
  confirmedAt?: number | undefined;
  /** One cheap call that is never answered by a 404 where the service is: throws as calls do. Absent where there is none. */
  probe?(call: Call): Promise<unknown>;
  /** Waits for the turn of a call ahead of it; absent where calls take none. */
  reserve?(call: Call): Promise<Reserved>;
}

/**
 * As of when what was written then, and is answered now, is known, on the monotonic clock: with another key in force by now it is
 * as it was with the one before.
 */
export function knownAt(connection: Pick<Connection<unknown>, 'since'>, sentAt: number, now: number): number {
  return keySinceOf(connection) > sentAt ? sentAt : now;
}

/** From when on what was seen is of the key in force: all of it, where that has never changed. */
export function keySinceOf({ since = Number.NEGATIVE_INFINITY }: Pick<Connection<unknown>, 'since'>): number {
  return since;
}
