import type { Report } from '../core/run.ts';
import { type Access, type Accounts, accountsOf } from './witness/accounts.ts';
import { type Call, cloudModelOf } from './witness/cloud-model.ts';
import { disturbancesOf } from './witness/disturbances.ts';
import { installationsOf } from './witness/installations.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { ByKey, RollingCount } from './witness/rolling-count.ts';
import { wasTroubled } from './witness/troubled.ts';
import { minute, type Span, second, type Witness } from './witness/witness.ts';

/** What latency moves together at the service. */
const slackMs = second;
/** What a key may be used for does not fall at once. */
const rememberedMs = 10 * second;
/** Until an operator has heard of what somebody wrote. */
const lagMs = 5 * second;

/**
 * In no minute an installation sends more with a key than it is set up for, whichever of its processes sends. What a
 * service takes at most is not asked here: it answers 429 beyond that, and counts no such request.
 */
export function budget(world: Witness, report: Report) {
  // Here, for what it knows begins with it.
  const accounts = accountsOf(world);
  const budgets = new ByKey(() => ({ sent: new RollingCount(minute - slackMs), limit: 0, at: 0 }));
  cloudModelOf(world).calls.add((call) => {
    const { installation, service, key, at, sentAt } = call;
    // What was kept on its way says nothing of when it was sent.
    if (installation === undefined || at - sentAt > slackMs) return;
    const known = budgets.of(installation, service, key);
    known.sent.add(at);
    const count = known.sent.count(at);
    if (count <= known.limit && at - known.at < rememberedMs) return;
    const unrecorded = isUnrecorded(world, at) || hasOtherScope(world, installation, at) ? 2 : 1;
    Object.assign(known, { limit: unrecorded * limitOf(world, accounts, call), at });
    if (count <= known.limit) return;
    report(
      'budget',
      `${installation} sent ${known.limit + 1} and more requests to ${service} in a minute with one key, and may send ${known.limit}`,
    );
  });
  return {};
}

/**
 * While Leases may not be written what is sent is on no record, and a backup knows nothing of the last minute: who begins then,
 * or may write them again, which he tries once a minute, has another budget.
 */
function isUnrecorded(world: Witness, at: number): boolean {
  return (
    wasTroubled(world, 'kube-403', at, { with: { of: 'leases' }, afterMs: 2 * minute }) ||
    wasTroubled(world, 'kube-restored', at, { afterMs: minute })
  );
}

/** Who began in the last minute with other namespaces to watch has a record of his own (docs/reliability.md). */
function hasOtherScope(world: Witness, installation: string, at: number): boolean {
  const setups =
    installationsOf(world)
      .get(installation)
      ?.during(at - minute, at) ?? [];
  return new Set(setups.map(({ namespaces }) => namespaces.join())).size > 1;
}

/** Of one account that uses the key its own; of several what the installation is set up with, for they share one budget. */
function limitOf(world: Witness, accounts: Accounts, { installation: name = '', service, key, at }: Call): number {
  const installation = installationsOf(world).get(name);
  if (installation === undefined) return Number.POSITIVE_INFINITY;
  // A process that was frozen, or deaf, uses for a while what was in force when it last heard of it.
  const from = disturbancesOf(world).knowledge(at - minute, lagMs);
  const span: Span = [from, at];
  const isIt = (access: Access | undefined) => access?.service === service && access.key === key;
  const uses = [
    useOf(accounts.defaults(installation, span), isIt),
    ...[...kubeModelOf(world).ofKind('CloudAccount')].map((each) => {
      const { most, isAll } = useOf(accounts.of(installation, each, span), isIt);
      const hasIt = (then: number) => each.livedIn(then, then) && isIt(accounts.ofAt(installation, each, then));
      return { most, isAll: isAll && installation.serves(each, at) && span.every(hasIt) };
    }),
  ].filter(({ most }) => most > 0);
  const own = Math.max(0, ...uses.map(({ most }) => most));
  if (uses.length < 2) return own;
  const together = Math.max(...installation.during(...span).map(rateOf));
  // While one more comes to it, or goes, it is the one or the other.
  const areSeveral = uses.filter(({ isAll }) => isAll).length > 1 && from === at - minute - lagMs;
  return areSeveral ? together : Math.max(together, own);
}

/** Of an account that stood for these in a time: what it may have used of it at most, and whether it was it all the time. */
function useOf(accesses: readonly Access[], isIt: (access: Access) => boolean) {
  const all = accesses.filter(isIt);
  return { most: Math.max(0, ...all.map(rateOf)), isAll: all.length === accesses.length };
}

const rateOf = ({ requestsPerMinute }: { readonly requestsPerMinute: number }): number => requestsPerMinute;
