import { defaultKey, provenAccountOf } from '../../../reconcile/ownership/ownership.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import { isDeleting, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import { DependencyError, RefusedError } from '../../../reconcile/status/outcome.ts';

const flag = '--default-account-namespaces';

/** Who may use the default account. */
export class DefaultAccountUsers {
  readonly #namespaces: ReadonlySet<string> | undefined;

  /** @param namespaces names, or `*` for all */
  constructor(namespaces: readonly string[] | '*') {
    this.#namespaces = namespaces === '*' ? undefined : new Set(namespaces);
  }

  /** Whether a resource without `accountRef` may hold anything of the default account. */
  mayHold(object: ManagedObject): boolean {
    return this.#isAllowed(object) || hasMade(object);
  }

  /**
   * What a resource made there it may always delete. Throws a RefusedError for anything else of another namespace, and a
   * DependencyError where a resource that is being deleted cannot be shown to have made what it names.
   */
  check(object: ManagedObject): void {
    if (this.#isAllowed(object)) return;
    const { namespace } = object.metadata;
    const refusal = `resources of namespace ${namespace} may not use the operator's default account (${flag})`;
    if (!isDeleting(object)) throw new RefusedError(`${refusal}: set spec.accountRef`);
    if (hasMade(object)) return;
    throw new DependencyError(
      `${refusal}, and the status does not say that this one did: add the namespace to ${flag} until it is gone, or set the annotation ${annotation.forceOrphan} to "true" to let it go and leave behind what it made`,
    );
  }

  #isAllowed({ metadata: { namespace = '' } }: ManagedObject): boolean {
    return this.#namespaces === undefined || this.#namespaces.has(namespace);
  }
}

/** By its status, which the operator alone writes: annotations are whatever those who may write the resource say. */
function hasMade(object: ManagedObject): boolean {
  return provenAccountOf(object) === defaultKey;
}
