import type { ReconcileContext } from './context.ts';
import { type Flow, leftByPolicy } from './flow.ts';
import { asRecorded } from './ownership/orphans.ts';
import { isRemoved, ownershipOf, unprovenAccount } from './ownership/ownership.ts';
import { isForced } from './resource/annotations.ts';
import { CurrentResource } from './resource/current-resource.ts';
import type { Facts } from './resource/memory.ts';
import type { ManagedObject } from './resource/resource.ts';
import type { ObjectWriter } from './resource/writer.ts';
import { emit, type Telling } from './status/events.ts';
import {
  BehindError,
  isTooSoon,
  type Outcome,
  type Report,
  report,
  reportDeleteFailure,
  UnrecordedError,
} from './status/outcome.ts';

/** What the end of one deleted resource takes. */
export interface DeletionOptions<Client> extends Telling {
  readonly flow: Flow<Client>;
  readonly writer: ObjectWriter;
  readonly facts: Facts;
  /** Not asked for of what goes without a call. Throws DependencyError when what the resource uses cannot be used. */
  readonly contextOf: () => ReconcileContext<Client>;
  /** What it made is at another address than its account is now. */
  readonly movedAddress: (context: ReconcileContext<Client>) => Report | undefined;
}

/** Removes what the deleted resource made, unless that is to stay, and then lets it go. */
export async function deleteResource<Client>(
  object: ManagedObject,
  options: DeletionOptions<Client>,
): Promise<Outcome> {
  try {
    return await remove(object, options);
  } catch (error) {
    if (isTooSoon(error)) throw error;
    return reportDeleteFailure(error);
  }
}

/** Nothing is left to do for one that is let go: where it stays for somebody else, what its status said of it is over. */
export function reportReleased(flow: Pick<Flow<never>, 'isOver'>, object: ManagedObject): Outcome {
  const { finalizers = [] } = object.metadata;
  if (finalizers.length === 0 || flow.isOver?.(object) === true) return { kind: 'finished' };
  const message = `deleted; it stays until others take their finalizers off: ${finalizers.join(', ')}`;
  return report('Deleting', message, { retry: { kind: 'never' }, isPending: true });
}

async function remove<Client>(object: ManagedObject, options: DeletionOptions<Client>): Promise<Outcome> {
  const { flow, writer, facts } = options;
  if (isRemoved(object)) return release(new CurrentResource(object, writer, facts));
  const held = isForced(object) ? asRecorded(object, facts.records) : object;
  if (flow.remove === undefined || flow.leavesNothing?.(held) === true) {
    await writer.removeFinalizerAsRead(object);
    tellOfKept(held, options);
    return { kind: 'finished' };
  }
  if (isForced(object)) {
    // Kubernetes may tell of its end before it answers.
    facts.isLetGo = true;
    await writer.removeFinalizerAsRead(object).catch((error: unknown) => {
      // Who takes it off by hand then is told of what that leaves behind.
      if (error instanceof UnrecordedError || error instanceof BehindError) facts.isLetGo = false;
      throw error;
    });
    emit(options, object, 'Orphaned', `${flow.leftBehind?.(held)} is left behind, as asked`);
    return { kind: 'finished' };
  }
  const unproven = flow.isBegun?.(object) === true ? undefined : unprovenAccount(object);
  if (unproven !== undefined) return report('Rejected', `deleting: ${unproven}`);
  const context = options.contextOf();
  const moved = options.movedAddress(context);
  if (moved !== undefined) return moved;
  const { resource } = context;
  await resource.confirm();
  const removed = await flow.remove(context);
  if (removed.kind !== 'finished') return removed;
  const outcome = await release(resource);
  if (outcome.kind === 'finished') tellOfKept(resource.object, options);
  return outcome;
}

/** Where Kubernetes does not let it go, its status says that all is removed: another process would miss that. */
async function release(resource: CurrentResource): Promise<Outcome> {
  try {
    await resource.release();
    return { kind: 'finished' };
  } catch (error) {
    return { ...reportDeleteFailure(error), ownership: { ...ownershipOf(resource.object), removedFor: resource.uid } };
  }
}

/** Once nothing holds it any more. */
function tellOfKept<Client>(object: ManagedObject, options: DeletionOptions<Client>): void {
  const left = leftByPolicy(options.flow, object);
  if (left !== undefined) emit(options, object, 'Orphaned', left);
}
