import type { Call } from '../../../common/call.ts';
import { keySinceOf, knownAt } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import type { ManagedSpec } from '../resource/resource.ts';
import type { Report } from '../status/outcome.ts';
import type { AccountObjects } from './account-objects.ts';
import { doubtOfDeletedMs } from './census.ts';
import type { ExternalContract } from './contract.ts';
import type { Presence } from './presence.ts';

type Context<Client> = Omit<ReconcileContext<Client>, 'resource' | 'peers'>;

/** What is done to one resource's external object once it is there. */
export class SafeChange<Spec extends ManagedSpec, Observed, Client> {
  readonly #context: Context<Client>;
  readonly #contract: ExternalContract<Spec, Observed, Client>;
  readonly #objects: AccountObjects<Observed>;

  constructor(
    context: Context<Client>,
    contract: ExternalContract<Spec, Observed, Client>,
    objects: AccountObjects<Observed>,
  ) {
    this.#context = context;
    this.#contract = contract;
    this.#objects = objects;
  }

  async update(id: string, spec: Spec, fields: readonly string[], call: Call): Promise<void> {
    const { connection, time } = this.#context;
    const sentAt = time.now();
    const observed = await this.#contract.update(connection.client, id, spec, new Set(fields), call);
    this.#objects.cache.record(observed, knownAt(connection, sentAt, time.now()));
  }

  /** The service took them. */
  tellUpdated(id: string, fields: readonly string[]): void {
    const { occasion, journal } = this.#context;
    const what = `${fields.join(', ')} of ${this.#contract.displayName} ${id}`;
    if (occasion.drift) journal.event('DriftCorrected', `put back ${what}`);
    else journal.event('Updated', `updated ${what}`);
  }

  /** Once. Confirmed by an answer, or, of what was gone already, by a second witness; reports while it is not. */
  async delete(id: string, presence: Presence<Observed, Client>, call: Call): Promise<Report | undefined> {
    const { facts, journal, connection, time } = this.#context;
    // Only the finalizer's removal failed last time.
    if (facts.deletedID === id) return undefined;
    let wasThere = false;
    const { deniedDelete: denied } = facts;
    // With another key it was another account that denied it.
    if (denied?.id !== id || denied.at < keySinceOf(connection)) {
      // With the key that was in force when it was sent.
      const sentAt = time.now();
      const result = await this.#contract.delete(connection.client, id, call);
      if (result === 'absent') return this.#denied(id, sentAt, presence);
      wasThere = true;
    } else {
      const unsure = await presence.confirmGone(id);
      if (unsure !== undefined) return unsure;
      // What was in doubt for minutes goes on record as gone: the service is asked for the last time.
      const isOld = time.now() - denied.at >= doubtOfDeletedMs;
      wasThere = isOld && (await this.#contract.delete(connection.client, id, call)) === 'deleted';
    }
    facts.deletedID = id;
    this.#objects.claims.letGo(id);
    this.#objects.cache.forget(id);
    const what = `${this.#contract.displayName} ${id}`;
    if (wasThere) journal.event('Deleted', `${what} deleted`);
    else if (presence.isInDoubt(id)) journal.event('Orphaned', leftInDoubt(what));
    else journal.event('Deleted', `${what} was gone already`);
    return undefined;
  }

  /** What was missed before is another matter: it may have been with another key, or long ago. */
  #denied(id: string, at: number, presence: Presence<Observed, Client>): Promise<Report | undefined> {
    const { facts } = this.#context;
    facts.deniedDelete = { id, at };
    if (facts.absent?.saidAt === undefined) delete facts.absent;
    return presence.confirmGone(id);
  }
}

/** Of a deleted resource, which does not wait for ever for what cannot be known. */
function leftInDoubt(what: string): string {
  return `${what} is left behind, if it is still there: it is not found, and cannot be known to be gone`;
}
