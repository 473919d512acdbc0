import { isSameURL } from '../../../common/http/url.ts';
import type { ReconcileContext } from '../context.ts';
import { externalIDOf, installationOf, isSameInstallation, recordedURLOf } from '../ownership/ownership.ts';
import { intentOf } from '../resource/annotations.ts';
import { fingerprint } from '../resource/json.ts';
import { isDeleting, type ManagedObject, type ManagedSpec } from '../resource/resource.ts';
import type { AccountObjects } from './account-objects.ts';
import { heldByOthers } from './claims.ts';
import type { ExternalContract, Identity } from './contract.ts';
import { soughtSince, type UnresolvedCreate } from './resolution.ts';

/** What is nobody's of what a list shows, and who may have made it: creates of one content in one account. */
export class Contenders<Spec extends ManagedSpec, Observed, Client> {
  readonly #context: ReconcileContext<Client>;
  readonly #contract: ExternalContract<Spec, Observed, Client>;
  readonly #objects: AccountObjects<Observed>;

  constructor(
    context: ReconcileContext<Client>,
    contract: ExternalContract<Spec, Observed, Client>,
    objects: AccountObjects<Observed>,
  ) {
    this.#context = context;
    this.#contract = contract;
    this.#objects = objects;
  }

  /** A twin is on its way to the same account: what is found may be its. */
  isCreating(content: string): boolean {
    const { resource, peers } = this.#context;
    const { claims } = this.#objects;
    const isTwin = ({ metadata: { uid = '' } }: ManagedObject) => claims.isCreating(uid, content);
    return peers.list().some((each) => isTwin(each) && peers.isOneAccount(each, resource.object));
  }

  unclaimed(resources: readonly ManagedObject[], found: readonly Observed[], content: string): readonly Identity[] {
    const claimed = this.claimed(resources);
    return found
      .filter((observed) => fingerprint(this.#contract.contentOf(observed)) === content)
      .map((observed) => this.#contract.identity(observed))
      .filter((identity) => !claimed.has(identity.id));
  }

  claimed(resources: readonly ManagedObject[]): ReadonlySet<string> {
    const { resource, peers } = this.#context;
    return new Set([
      ...this.#objects.claims.takenIDs(resource.uid),
      ...heldByOthers(resource.object, resources, peers),
    ]);
  }

  /** Every create of this content in this account that nobody knows the fate of, this one included. */
  unresolved(resources: readonly ManagedObject[], content: string): readonly UnresolvedCreate[] {
    const { resource, peers } = this.#context;
    const { object, uid } = resource;
    const url = recordedURLOf(object) ?? '';
    const others = resources.filter(
      (each) =>
        each.metadata.uid !== uid &&
        intentOf(each)?.content === content &&
        peers.isOneAccount(each, object) &&
        isSameURL(recordedURLOf(each) ?? '', url) &&
        externalIDOf(each) === undefined &&
        this.#objects.claims.claimOf(each.metadata.uid ?? '') === undefined,
    );
    return [object, ...others].map((each) => this.asUnresolved(each));
  }

  asUnresolved(object: ManagedObject): UnresolvedCreate {
    const { peers, time, connection } = this.#context;
    const { sentAt } = peers.factsOf(object).unresolved ?? {};
    const sentMsAgo = sentAt === undefined ? undefined : time.now() - sentAt;
    const now = { own: time.wall(), service: connection.serviceTime?.(), sentMsAgo };
    const { uid = '', creationTimestamp } = object.metadata;
    const sought = soughtSince(intentOf(object) ?? {}, now, Date.parse(creationTimestamp ?? '') || undefined);
    return { uid, isForeign: this.#isForeign(object), isGoing: isDeleting(object), ...sought };
  }

  #isForeign(object: ManagedObject): boolean {
    const [other, mine] = [installationOf(object), installationOf(this.#context.resource.object)];
    return other !== undefined && mine !== undefined && !isSameInstallation(other, mine);
  }
}
