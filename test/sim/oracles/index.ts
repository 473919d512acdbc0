import type { Oracle } from '../core/run.ts';
import { budget } from './budget.ts';
import { calm } from './calm.ts';
import { converges } from './converges.ts';
import { doesNotDie } from './does-not-die.ts';
import { fewReads } from './few-reads.ts';
import { impliedCalls } from './implied-calls.ts';
import { knownBadKey } from './known-bad-key.ts';
import { noCanary } from './no-canary.ts';
import { noMoreThanNeeded } from './no-more-than-needed.ts';
import { noWars } from './no-wars.ts';
import { nobodyStarves } from './nobody-starves.ts';
import { nothingStolen } from './nothing-stolen.ts';
import { oneHolder } from './one-holder.ts';
import { oneObjectEach } from './one-object-each.ts';
import { oneReplayEach } from './one-replay-each.ts';
import { oneTunnelEach } from './one-tunnel-each.ts';
import { retryAfter } from './retry-after.ts';
import { sameAsFresh } from './same-as-fresh.ts';
import { singleLeader } from './single-leader.ts';
import { truth } from './truth.ts';

/** Every oracle, by the name under which it speaks. */
export const oracles: Readonly<Record<string, Oracle>> = {
  'one-object-each': oneObjectEach,
  'one-tunnel-each': oneTunnelEach,
  'one-replay-each': oneReplayEach,
  'nothing-stolen': nothingStolen,
  'implied-calls': impliedCalls,
  'no-wars': noWars,
  'no-more-than-needed': noMoreThanNeeded,
  'single-leader': singleLeader,
  'one-holder': oneHolder,
  budget,
  'retry-after': retryAfter,
  'known-bad-key': knownBadKey,
  'few-reads': fewReads,
  'nobody-starves': nobodyStarves,
  converges,
  calm,
  truth,
  'same-as-fresh': sameAsFresh,
  'no-canary': noCanary,
  'does-not-die': doesNotDie,
};
