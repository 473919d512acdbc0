import { waitAway } from '../../../../common/call.ts';
import { ApiError } from '../../../../common/http/errors.ts';
import type { MirrorStatus } from '../../../mirror/mirror.ts';
import type { Mirrors } from '../../../mirror/mirrors.ts';
import { type Dependents, namesOf } from '../../../reconcile/connections/dependents.ts';
import type { ReconcileContext } from '../../../reconcile/context.ts';
import { doubtIn, isAskedWhetherGone } from '../../../reconcile/external/census.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import { unhandledReconcileAt } from '../../../reconcile/occasion.ts';
import type { HeldSecrets } from '../../../reconcile/referents/held-secrets.ts';
import type { CurrentResource } from '../../../reconcile/resource/current-resource.ts';
import { conditionOf, keyOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { parseSpec } from '../../../reconcile/resource/spec.ts';
import {
  DependencyError,
  type Outcome,
  type PartReport,
  type Report,
  type Retry,
  report,
  reportFailure,
} from '../../../reconcile/status/outcome.ts';
import type { AccountEntry } from '../accounts/account-entry.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { CloudConnection } from '../accounts/cloud-connection.ts';
import type { Homes } from '../accounts/homes.ts';
import { type Spec, spec as specSchema } from './schema.ts';

/** Dependents that are not in the cache are not seen going: they are looked for this often. */
const dependentsRetryMs = 5_000;
const firstSweepRetryMs = 1_000;
/** That a mirror is in trouble is said no longer than so after it is over. */
const troubledRetryMs = 10_000;
/** Nobody but a person changes that. */
const notPermittedRetryMs = 60_000;
const mirrorCondition = 'EndpointsMirrored';

type Context = ReconcileContext<undefined>;

export interface AccountFlowOptions {
  readonly accounts: Accounts;
  readonly homes: Pick<Homes, 'ofAccounts'>;
  readonly mirrors: Mirrors;
  /** What uses accounts. */
  readonly dependents: Dependents;
  readonly heldSecrets: HeldSecrets;
}

/** The flow of CloudAccount: checks that the account can be used, mirrors its endpoints, and outlives what uses it. */
export class AccountFlow implements Flow<undefined> {
  readonly conditions = [mirrorCondition];
  readonly #accounts: Accounts;
  readonly #homes: AccountFlowOptions['homes'];
  readonly #mirrors: Mirrors;
  readonly #dependents: Dependents;
  readonly #heldSecrets: HeldSecrets;

  constructor(options: AccountFlowOptions) {
    this.#accounts = options.accounts;
    this.#homes = options.homes;
    this.#mirrors = options.mirrors;
    this.#dependents = options.dependents;
    this.#heldSecrets = options.heldSecrets;
  }

  conditionsOf(object: ManagedObject): readonly string[] {
    return isMirroring(object) ? this.conditions : [];
  }

  async ensure(context: Context): Promise<Outcome> {
    const { resource, call } = context;
    await resource.hold();
    const entry = this.#accounts.entry(keyOf(resource.object));
    if (entry === undefined) throw new DependencyError('this account is not in the cache yet', { isPending: true });
    const { connection: account } = entry;
    const mirrored = (await this.#unmirror(context)) ? mirroredField(resource.object) : {};
    if (account === undefined) return this.#refused(context, entry, mirrored);
    const parsed = parseSpec(specSchema, resource.object);
    if ('report' in parsed) return parsed.report;
    await waitAway(call, () => this.#mirrors.stopOther(account.key, account));
    if (unhandledReconcileAt(resource.object) !== undefined) this.#confirm(context, account);
    let heldInMs: number | undefined;
    try {
      heldInMs = await this.#requireKey(context, entry, account);
      await check(context, entry, account);
    } catch (error) {
      return this.#failed(resource.object, account, error, mirrored);
    }
    const passed = await this.#passed(context, parsed.spec, account, mirrored);
    const doubt = this.#dependents.known(account.key).map(doubtIn).find(Boolean);
    if (passed.kind === 'finished') return passed;
    const retry = soonerOf(passed.retry, heldInMs);
    return { ...passed, ...(doubt !== undefined && report('Unreachable', doubt)), retry };
  }

  /** Removes what an earlier spec had mirrored, whether or not the account is any good; answers whether something is there. */
  async #unmirror({ resource, call }: Context): Promise<boolean> {
    const { object } = resource;
    if (isMirroring(object)) return true;
    const key = keyOf(object);
    if (!isMirrored(object) && !this.#mirrors.isRunning(key)) return false;
    return !(await waitAway(call, () => this.#mirrors.remove(key, namespaceOf(object))));
  }

  /** Deletes of its users need the account: it goes after them. */
  async remove(context: Context): Promise<Outcome> {
    const { resource, call } = context;
    const { object } = resource;
    const key = keyOf(object);
    await waitAway(call, () => this.#mirrors.stop(key));
    const dependents = await this.#dependents.of(object);
    if (dependents.length > 0)
      return report('Deleting', waitingFor(dependents), { retry: { kind: 'after', ms: dependentsRetryMs } });
    // What may not be deleted goes with the account, which owns it.
    if (isMirrored(object)) await waitAway(call, () => this.#mirrors.remove(key, namespaceOf(object)));
    await this.#heldSecrets.letGo(object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const users = this.#dependents.known(keyOf(object));
    const whose = users.length === 0 ? 'the resources that use it' : namesOf(users);
    return `CloudAccount ${keyOf(object)} is taken from ${whose}: what they made`;
  }

  standDown(object: ManagedObject): void {
    void this.#mirrors.stop(keyOf(object));
  }

  /** It may have gone by force: nobody else lets go of its Secret. */
  gone(object: ManagedObject): void {
    if (this.#homes.ofAccounts.isCharge(object)) this.#heldSecrets.forget(object);
  }

  forget(object: ManagedObject): void {
    this.standDown(object);
  }

  /**
   * A person who was told that much of the account is missing says that it is; who was not asked says nothing of that. A key
   * that is taken for refused is tried by the check.
   */
  #confirm({ occasion }: Context, account: CloudConnection): void {
    account.tryKey();
    if (this.#dependents.known(account.key).some(isAskedWhetherGone)) account.confirmedAt = occasion.startedAt;
    this.#dependents.enqueue(account.key, 'unready');
  }

  async #refused({ call, resource }: Context, entry: AccountEntry, mirrored: Mirrored): Promise<Report> {
    await waitAway(call, () => Promise.all([this.#mirrors.stop(keyOf(resource.object)), entry.whenRead()]));
    await this.#holdSecret(resource, entry);
    const fields = { ...mirrored, ...placeField(resource.object) };
    return report('Rejected', entry.refusal ?? 'spec: cannot be used', { fields });
  }

  async #holdSecret(resource: CurrentResource, { keySecret }: AccountEntry): Promise<number | undefined> {
    return keySecret && this.#heldSecrets.hold(resource, keySecret);
  }

  async #requireKey(
    { call, resource }: Context,
    entry: AccountEntry,
    account: CloudConnection,
  ): Promise<number | undefined> {
    await waitAway(call, () => entry.whenRead());
    const heldInMs = await this.#holdSecret(resource, entry);
    try {
      entry.requireKey();
      return heldInMs;
    } catch (error) {
      await waitAway(call, () => this.#mirrors.stop(account.key));
      throw error;
    }
  }

  #failed(object: ManagedObject, account: CloudConnection, error: unknown, mirrored: Mirrored): Report {
    const failure = reportFailure(error);
    const verdict = error instanceof ApiError ? verdictOf(error, object) : {};
    const fields = { apiURL: account.url, ...verdict, ...this.#counted(account, mirrored), ...placeField(object) };
    return { ...failure, fields, ...this.#mirrorParts(object, account) };
  }

  async #passed(
    { resource: { object }, call, peers }: Context,
    { endpointMirror }: Spec,
    account: CloudConnection,
    mirrored: Mirrored,
  ): Promise<Outcome> {
    const namespace = namespaceOf(object);
    const fields = { apiURL: account.url, reachable: true, authenticated: true, ...placeField(object) };
    const message = `${account.url} accepts the API key`;
    if (endpointMirror?.enabled !== true) {
      if (mirrored.endpointsMirrored === undefined) return report('Available', message, { fields });
      const left = 'the operator may not delete the ConfigMaps of the endpoints in this namespace';
      return report('Available', message, {
        fields: { ...fields, ...mirrored },
        parts: [{ condition: mirrorCondition, report: notPermitted(left) }],
        retry: { kind: 'after', ms: notPermittedRetryMs },
      });
    }
    // Before there is anything that another process would have to remove.
    if (mirrored.endpointsMirrored === undefined) {
      const parts = [{ condition: mirrorCondition, report: mirrorReport(false, undefined) }];
      return report('Available', message, {
        ...{ fields: { ...fields, endpointsMirrored: 0 }, parts },
        retry: { kind: 'after', ms: 0 },
      });
    }
    // Gone or paused meanwhile, by which its mirror has been stopped: nobody would stop another.
    if (!peers.isCached(object) || call.signal?.aborted === true) return { kind: 'finished' };
    const { intervalSeconds, protocols, types } = endpointMirror;
    const intervalMs = intervalSeconds * 1_000;
    this.#mirrors.start(account, { namespace, intervalMs, protocols, types, owner: ownerOf(object) });
    const { sweptAt, synced, error } = this.#mirrors.status(account.key) ?? {};
    const lookMs = synced === true ? intervalMs : firstSweepRetryMs;
    const troubledMs = sweptAt === undefined ? firstSweepRetryMs : Math.min(intervalMs, troubledRetryMs);
    const lookAgainMs = error === undefined ? lookMs : troubledMs;
    return report('Available', message, {
      fields: { ...fields, ...this.#counted(account, mirrored) },
      ...this.#mirrorParts(object, account),
      retry: { kind: 'after', ms: lookAgainMs },
    });
  }

  /** As the mirror counts, once it has seen them all. */
  #counted({ key }: CloudConnection, shown: Mirrored): Mirrored {
    const { sweptAt, endpoints } = this.#mirrors.status(key) ?? {};
    return sweptAt === undefined ? shown : { endpointsMirrored: endpoints };
  }

  /** While no mirror runs what is wrong with the account is all that is known of it. */
  #mirrorParts(object: ManagedObject, { key }: CloudConnection): { readonly parts?: readonly PartReport[] } {
    const status = this.#mirrors.status(key);
    if (status === undefined) return {};
    const before = conditionOf(object, mirrorCondition)?.status === 'True';
    const shown = status.synced || before;
    return { parts: [{ condition: mirrorCondition, report: mirrorReport(shown, status) }] };
  }
}

/** Once for each state of spec and key, and once an interval. */
async function check(context: Context, entry: AccountEntry, account: CloudConnection): Promise<void> {
  const { occasion, call, facts } = context;
  if (!occasion.requested && entry.passedSince(occasion.lastDue())) return;
  await entry.check(account, occasion.startedAt, call);
  facts.observed = true;
}

/** @param ms until its Secret is held again */
function soonerOf(retry: Retry, ms: number | undefined): Retry {
  if (ms === undefined || retry.kind === 'backoff') return retry;
  return { kind: 'after', ms: retry.kind === 'after' ? Math.min(retry.ms, ms) : ms };
}

function mirrorReport(shown: boolean, status: Pick<MirrorStatus, 'error' | 'cause'> | undefined): Report {
  const { error, cause } = status ?? {};
  if (error !== undefined && cause === 'no right') return notPermitted(error);
  // Nobody but a person ends that.
  if (error !== undefined) return report(cause === 'in the way' ? 'Conflict' : 'Updating', error);
  if (shown)
    return report(
      'Available',
      'each active endpoint that spec.endpointMirror asks for has a ConfigMap in this namespace',
    );
  return report('Updating', 'the endpoints are being listed, and their ConfigMaps written, for the first time');
}

function notPermitted(problem: string): Report {
  const right =
    'check that the operator may write ConfigMaps here (endpointMirror.cloudAccounts of the chart), and quotas and policies';
  return report('DependencyNotReady', `${problem}; ${right}`);
}

/** What a failed check says; what it does not say stays as it was. */
function verdictOf({ reason }: ApiError, { status }: ManagedObject): Readonly<Record<string, unknown>> {
  if (reason === 'Unreachable') return { reachable: false, authenticated: status?.authenticated };
  return { reachable: true, authenticated: reason === 'Unauthorized' ? false : status?.authenticated };
}

/** As it is shown: an earlier process may have left ConfigMaps behind that are still to be removed. */
function mirroredField({ status }: ManagedObject): Mirrored {
  return { endpointsMirrored: status?.endpointsMirrored };
}

interface Mirrored {
  readonly endpointsMirrored?: unknown;
}

/** Who works for it is none of the flow's business. */
function placeField({ status }: ManagedObject): Readonly<Record<string, unknown>> {
  return { shard: status?.shard };
}

/** Of a spec as it was written, and so without its defaults. */
function isMirroring({ spec }: ManagedObject): boolean {
  const mirror = spec.endpointMirror as Partial<Spec['endpointMirror']>;
  return mirror !== undefined && mirror.enabled !== false;
}

function isMirrored(object: ManagedObject): boolean {
  return isMirroring(object) || object.status?.endpointsMirrored !== undefined;
}

function ownerOf({ apiVersion, kind, metadata: { name, uid = '' } }: ManagedObject) {
  return { apiVersion, kind, name, uid };
}

function namespaceOf({ metadata }: ManagedObject): string {
  return metadata.namespace ?? '';
}

function waitingFor(dependents: readonly ManagedObject[]): string {
  return `waiting for the resources that use this account to be deleted: ${namesOf(dependents)}`;
}
