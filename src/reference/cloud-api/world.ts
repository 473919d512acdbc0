import type { DatabaseSync } from 'node:sqlite';
import type { WallClock } from '../../common/clock.ts';
import type { Random } from '../../common/random-id.ts';
import type { ServerRuntime } from '../../common/runtime.ts';
import { prepare, type Statements } from './collection.ts';
import { idMaker, type NewId } from './ids.ts';

/** What operations act on: the stored objects, time, chance and fresh ids. */
export interface World {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly clock: WallClock;
  readonly random: Random;
  readonly newId: NewId;
  /** RFC 3339. */
  readonly now: () => string;
}

export function createWorld(database: DatabaseSync, { clock, random }: ServerRuntime): World {
  const now = () => timestamp(clock.now());
  return { database, statements: prepare(database), clock, random, newId: idMaker(random), now };
}

/** RFC 3339 (Cloud Management API, section 2), in UTC, to the second. */
const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
