import type { Report } from '../core/run.ts';
import { type Access, accountsOf } from './accounts.ts';
import { type Call, cloudModelOf } from './cloud-model.ts';
import { disturbancesOf } from './disturbances.ts';
import { installationsOf } from './installations.ts';
import { kubeModelOf } from './kube-model.ts';
import { ByKey, RollingCount } from './rolling-count.ts';
import { minute, type Span, second, type Witness } from './witness.ts';

/** What latency moves together at the service. */
const slackMs = second;

/**
 * In no minute an installation sends more with a key than it is set up for, whichever of its processes sends. What a
 * service takes at most is not asked here: it answers 429 beyond that, and counts no such request.
 */
export function budget(world: Witness, report: Report) {
  const budgets = new ByKey(() => ({ sent: new RollingCount(minute - slackMs), limit: 0 }));
  const forget = () => {
    for (const [, each] of budgets.all) each.limit = 0;
  };
  kubeModelOf(world).writes.add(({ kind }) => {
    if (kind === 'CloudAccount' || kind === 'Secret') forget();
  });
  cloudModelOf(world).calls.add((call) => {
    const { installation, service, key, at, sentAt } = call;
    // What was kept on its way says nothing of when it was sent.
    if (installation === undefined || at - sentAt > slackMs) return;
    const known = budgets.of(installation, service, key);
    known.sent.add(at);
    const count = known.sent.count(at);
    if (count <= known.limit) return;
    known.limit = limitOf(world, call);
    if (count <= known.limit) return;
    report(
      'budget',
      `${installation} sent ${known.limit + 1} and more requests to ${service} in a minute with one key, and may send ${known.limit}`,
    );
  });
  return {};
}

/** Of those that use the key the highest: they share one budget. */
function limitOf(world: Witness, { installation: name = '', service, key, at }: Call): number {
  const installation = installationsOf(world).get(name);
  if (installation === undefined) return Number.POSITIVE_INFINITY;
  // A process that was frozen, or deaf, uses for a while what was in force when it last heard of it.
  const span: Span = [disturbancesOf(world).knowledge(at - minute, 5 * second), at];
  const accounts = accountsOf(world);
  const most = (accesses: readonly Access[]) =>
    Math.max(0, ...accesses.filter((each) => each.service === service && each.key === key).map(rateOf));
  const named = [...kubeModelOf(world).ofKind('CloudAccount')].map((each) =>
    most(accounts.of(installation, each, span)),
  );
  return Math.max(...named, most(accounts.defaults(installation, span)));
}

const rateOf = ({ requestsPerMinute }: Access): number => requestsPerMinute;
