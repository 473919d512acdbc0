import type { Convergence } from './converge.ts';
import type { Population } from './population.ts';
import type { Counts } from './servers.ts';

/*
 * What is exact, however busy the machine is: how often the operator asks whom for what, and how much code it starts from.
 * Each of these may only become less.
 */

/** Of the files that `run` loads at its start; test/structure/bundle.test.ts says which. */
const mostBundleBytes = 1_795_000;

/** What is more than it may be: a line each. */
export function exceeded(
  count: number,
  converged: readonly Convergence[],
  populated: readonly Population[],
  bundleBytes: number,
): readonly string[] {
  return [
    ...over(`bytes that run starts from`, bundleBytes, mostBundleBytes),
    ...converged.flatMap((each) => overOf(each, count)),
    ...populated.flatMap((each) => [
      ...over(`writes at a start with ${each.count} Ready`, resourceWrites(each.writes), 3),
      ...over(`calls at a start with ${each.count} Ready`, sum(each.calls), Math.ceil((each.count + 1) / 100) + 1),
    ]),
  ];
}

function overOf({ writes, calls, duplicates }: Convergence, count: number): readonly string[] {
  return [
    ...over(`writes of ${count} creates`, resourceWrites(writes), 3 * count),
    ...over(`events of ${count} creates`, writes['POST events'] ?? 0, count),
    ...over(`cloud calls of ${count} creates`, sum(calls), count),
    ...over('duplicates', duplicates, 0),
  ];
}

/** Leases are renewed as time goes by. */
function resourceWrites(writes: Counts): number {
  return sum(Object.fromEntries(Object.entries(writes).filter(([name]) => /^(PATCH|PUT) reservedaddrs/.test(name))));
}

function sum(counts: Counts): number {
  return Object.values(counts).reduce((total, each) => total + each, 0);
}

function over(what: string, found: number, most: number): readonly string[] {
  return found > most ? [`${what}: ${found}, which may be ${most} at most`] : [];
}
