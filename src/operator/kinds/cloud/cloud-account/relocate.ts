import { type Call, waitAway } from '../../../../common/call.ts';
import type { Mirrors } from '../../../mirror/mirrors.ts';
import type { RecordShard } from '../../../reconcile/connections/placement.ts';
import { keyOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import type { Homes } from '../accounts/homes.ts';

export interface RelocateOptions {
  readonly homes: Pick<Homes, 'relocationOf' | 'recordOf'>;
  readonly mirrors: Pick<Mirrors, 'stop'>;
  /** Nothing that uses the account is under way any more, once it resolves. */
  readonly drain: (account: string) => Promise<void>;
}

/**
 * Gives an account whose key belongs to another shard to who has that: ends what is under way for it, then writes where
 * it is from now on. Undefined for one that is where it belongs; else in how many ms it is to be looked at again.
 */
export async function relocate(
  { homes, mirrors, drain }: RelocateOptions,
  object: ManagedObject,
  place: RecordShard,
  call: Pick<Call, 'away'>,
): Promise<number | undefined> {
  const relocation = homes.relocationOf(object);
  if (relocation === undefined) return undefined;
  const { to, inMs } = relocation;
  if (inMs > 0) return inMs;
  const key = keyOf(object);
  await waitAway(call, () => Promise.all([drain(key), mirrors.stop(key)]));
  await place(homes.recordOf(to));
  // Not at once where that is here, too: what is under way is of the shard that it was begun in, and ends with that.
  return 0;
}
