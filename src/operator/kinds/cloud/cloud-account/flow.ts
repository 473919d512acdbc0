import { keyOf } from '../../../kube/types.ts';
import type { Mirrors } from '../../../mirror/mirrors.ts';
import { lastDue, type Turn } from '../../../reconcile/context.ts';
import { namesOf, type Users } from '../../../reconcile/dependents.ts';
import { type CallFailure, isCallFailure } from '../../../reconcile/external/contract.ts';
import type { Flow } from '../../../reconcile/flow.ts';
import {
  DependencyError,
  type Outcome,
  type PartReport,
  type Report,
  report,
  reportFailure,
} from '../../../reconcile/outcome.ts';
import { conditionOf, type ManagedObject } from '../../../reconcile/resource.ts';
import { parseSpec } from '../../../reconcile/spec.ts';
import type { AccountEntry } from '../accounts/account-entry.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { OpenAccount } from '../accounts/cloud-connection.ts';
import { type Spec, spec as specSchema } from './schema.ts';

/** Users of other shards are not seen going: they are looked for this often. */
const usersRetryMs = 5_000;
const firstSweepRetryMs = 1_000;
const mirrorCondition = 'EndpointsMirrored';

type AccountTurn = Turn<undefined>;

/** The flow of CloudAccount: checks that the account can be used, mirrors its endpoints, and outlives its users. */
export class AccountFlow implements Flow<undefined> {
  readonly noun = 'cloud account';
  readonly #accounts: Accounts;
  readonly #mirrors: Mirrors;
  readonly #users: Users;

  constructor(options: { accounts: Accounts; mirrors: Mirrors; users: Users }) {
    this.#accounts = options.accounts;
    this.#mirrors = options.mirrors;
    this.#users = options.users;
  }

  claims(): readonly string[] {
    return [];
  }

  async ensure(turn: AccountTurn): Promise<Outcome> {
    await turn.writer.addFinalizer(turn.object);
    const parsed = parseSpec(specSchema, turn.object);
    if ('report' in parsed) return parsed.report;
    const entry = this.#accounts.entry(keyOf(turn.object));
    if (entry === undefined) throw new DependencyError('this account is not in the cache yet');
    const { account } = entry;
    if (account === undefined) return this.#refused(turn, entry.refusal ?? 'spec: cannot be used');
    await this.#mirrors.stopOther(account.key, account);
    try {
      await this.#requireKey(entry, account);
      await check(turn, entry, account);
    } catch (error) {
      return this.#failed(turn, account, error);
    }
    return this.#passed(turn, parsed.spec, account);
  }

  leavesNothing(): boolean {
    return false;
  }

  /** Deletes of its users need the account: it goes after them. */
  async remove(turn: AccountTurn): Promise<Outcome> {
    const { object } = turn;
    const key = keyOf(object);
    await this.#mirrors.stop(key);
    const users = await this.#users.of(object);
    if (users.length > 0) return report('Deleting', waitingFor(users), { retry: { kind: 'after', ms: usersRetryMs } });
    if (isMirrored(object)) await this.#mirrors.remove(key, namespaceOf(object));
    await turn.writer.removeFinalizer(object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    return `what the resources that use CloudAccount ${keyOf(object)} made`;
  }

  /** It may have gone by force, or to another shard: nobody else stops its mirror. */
  forget(object: ManagedObject): void {
    void this.#mirrors.stop(keyOf(object));
  }

  close(): void {}

  async #refused(turn: AccountTurn, refusal: string): Promise<Outcome> {
    await this.#mirrors.stop(keyOf(turn.object));
    return report('Rejected', refusal, { fields: mirroredField(turn.object) });
  }

  async #requireKey(entry: AccountEntry, account: OpenAccount): Promise<void> {
    await entry.whenRead();
    try {
      entry.requireKey();
    } catch (error) {
      await this.#mirrors.stop(account.key);
      throw error;
    }
  }

  #failed({ object }: AccountTurn, account: OpenAccount, error: unknown): Outcome {
    const failure = reportFailure(error);
    const verdict = isCallFailure(error) ? verdictOf(error, object) : {};
    const fields = { apiURL: account.url, ...verdict, ...mirroredField(object) };
    return { ...failure, fields, parts: this.#mirrorParts(object, account) };
  }

  async #passed({ object }: AccountTurn, { endpointMirror }: Spec, account: OpenAccount): Promise<Outcome> {
    const namespace = namespaceOf(object);
    const fields = { apiURL: account.url, reachable: true, authenticated: true };
    const message = `${account.url} accepts the API key`;
    if (endpointMirror?.enabled !== true) {
      if (isMirrored(object)) await this.#mirrors.remove(account.key, namespace);
      return report('Available', message, { fields });
    }
    const { intervalSeconds, protocols, types } = endpointMirror;
    const intervalMs = intervalSeconds * 1_000;
    this.#mirrors.start(account, { namespace, intervalMs, protocols, types });
    const { sweptAt, endpoints } = this.#mirrors.status(account.key) ?? {};
    const lookMs = sweptAt === undefined ? firstSweepRetryMs : intervalMs;
    return report('Available', message, {
      fields: { ...fields, ...(sweptAt === undefined ? mirroredField(object) : { endpointsMirrored: endpoints }) },
      parts: this.#mirrorParts(object, account),
      retry: { kind: 'after', ms: lookMs },
    });
  }

  #mirrorParts(object: ManagedObject, { key }: OpenAccount): readonly PartReport[] {
    const status = this.#mirrors.status(key);
    if (status === undefined) return [];
    const before = conditionOf(object, mirrorCondition)?.status === 'True';
    const shown = status.sweptAt !== undefined || before;
    return [{ condition: mirrorCondition, report: mirrorReport(shown, status.error) }];
  }
}

/** Once for each state of spec and key, and once an interval. */
async function check(turn: AccountTurn, entry: AccountEntry, account: OpenAccount): Promise<void> {
  if (!turn.asked && entry.passedSince(lastDue(turn, turn.object))) return;
  await entry.check(account, turn.startedAt, turn.call);
  turn.memory.of(turn.uid).observed = true;
}

function mirrorReport(shown: boolean, error: string | undefined): Report {
  if (error !== undefined) return report('Updating', error);
  if (shown) return report('Available', 'each active endpoint has a ConfigMap in this namespace');
  return report('Updating', 'the endpoints are being listed for the first time');
}

/** What a failed check says; what it does not say stays as it was. */
function verdictOf({ reason }: CallFailure, { status }: ManagedObject): Readonly<Record<string, unknown>> {
  if (reason === 'Unreachable') return { reachable: false, authenticated: status?.authenticated };
  return { reachable: true, authenticated: reason === 'Unauthorized' ? false : status?.authenticated };
}

/** As it is shown: an earlier process may have left ConfigMaps behind that are still to be removed. */
function mirroredField({ status }: ManagedObject): Readonly<Record<string, unknown>> {
  return { endpointsMirrored: status?.endpointsMirrored };
}

function isMirrored({ spec, status }: ManagedObject): boolean {
  const asked = (spec.endpointMirror as Spec['endpointMirror'])?.enabled === true;
  return asked || status?.endpointsMirrored !== undefined;
}

function namespaceOf({ metadata }: ManagedObject): string {
  return metadata.namespace ?? '';
}

function waitingFor(users: readonly ManagedObject[]): string {
  return `waiting for the resources that use this account to be deleted: ${namesOf(users)}`;
}
