import type { Report } from '../core/run.ts';
import { needOf } from './verdicts/needed-reads.ts';
import { watchWholeLists } from './verdicts/whole-lists.ts';
import { cloudModelOf, isMutating, succeeded } from './witness/cloud-model.ts';
import { disturbancesOf } from './witness/disturbances.ts';
import { type InstallationHistory, installationsOf } from './witness/installations.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { ByKey } from './witness/rolling-count.ts';
import { minute, type Witness } from './witness/witness.ts';

/** So long nothing has changed before reads are counted, and for so long they are. */
const spanMs = 10 * minute;

/** Reads cost no more than drift checks need, and the search for a lost create a few pages, however many there are. */
export function fewReads(world: Witness, report: Report) {
  watchStillness(world, report);
  watchWholeLists(world, report);
  return {};
}

interface Count {
  from: number | undefined;
  reads: number;
}

function watchStillness(world: Witness, report: Report): void {
  let changedAt = 0;
  const counts = new ByKey((): Count => ({ from: undefined, reads: 0 }));
  kubeModelOf(world).writes.add(({ by, kind, at }) => {
    if (by === undefined && kind !== 'Lease') changedAt = at;
  });
  cloudModelOf(world).calls.add((call) => {
    const { installation: name = '', account, at } = call;
    const installation = installationsOf(world).get(name);
    if (isMutating(call) && succeeded(call)) changedAt = at;
    if (isMutating(call) || installation === undefined || account === undefined) return;
    const count = counts.of(name, account);
    if (count.from === undefined || count.from < changedAt + spanMs)
      Object.assign(count, { from: undefined, reads: 0 });
    if (at < changedAt + spanMs) return;
    count.from ??= at;
    count.reads += 1;
    if (at - count.from < spanMs) return;
    const span = [count.from, at] as const;
    if (!isDisturbed(world, installation, span)) {
      const need = needOf(world, installation, account, at - count.from);
      if (count.reads > need)
        report(
          'few-reads',
          `${name} reads ${account} more than ${Math.round(need)} times in 10 minutes in which nothing changes`,
        );
    }
    Object.assign(count, { from: at, reads: 0 });
  });
}

function isDisturbed(
  world: Witness,
  installation: InstallationHistory,
  [from, to]: readonly [number, number],
): boolean {
  return disturbancesOf(world).any(from - spanMs, to) || installation.startsIn(from - spanMs, to) > 0;
}
