import { keySinceOf } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { isObserver, originOf, ownedIDOf, ownershipOf, placeOf, placeRecord } from '../ownership/ownership.ts';
import { annotation, annotationOf } from '../resource/annotations.ts';
import type { Annotations } from '../resource/writer.ts';
import type { Report } from '../status/outcome.ts';

/** So many of what it once made may come back: there are not many accounts that a key is mistaken for. */
const mostFormer = 3;

type Context = Pick<ReconcileContext<unknown>, 'resource' | 'facts' | 'connection'>;

/** What is on record of one resource's external object: by annotations and, as proof, by its status. */
export class ExternalRecord {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Whatever is managed must be held by the finalizer, and its id must be on durable record. */
  async keep(id: string, how = originOf(this.#context.resource.object, id)): Promise<void> {
    const { resource, connection } = this.#context;
    await resource.record({
      [annotation.externalID]: id,
      ...(how === 'Created' ? { [annotation.createdID]: id } : {}),
      ...placeRecord(connection),
      ...this.#keyMark(id),
    });
  }

  /** Of the key that it was seen with: where another is in force by now, what stands there stays. */
  #keyMark(id: string): Annotations {
    const { facts, connection } = this.#context;
    const { keyMark } = connection;
    const isSeen = facts.seen?.id === id && facts.seen.at > keySinceOf(connection);
    return isSeen && keyMark !== undefined ? { [annotation.keyMark]: keyMark } : {};
  }

  /** What somebody wiped is put back from what the status knows. */
  async restore(): Promise<void> {
    const { object } = this.#context.resource;
    const { id } = ownershipOf(object);
    if (id !== undefined && annotationOf(object, annotation.externalID) === undefined) await this.keep(id);
  }

  /** What is gone is not this resource's any more, nor is it where that was, before its record gives way to another. */
  async disown(): Promise<void> {
    const { resource, facts } = this.#context;
    const { object } = resource;
    delete facts.made;
    const { id, installation } = ownershipOf(object);
    // Definitions that are too old to keep `ownership` keep what is shown.
    const { id: shown, ...status } = object.status ?? {};
    if (id === undefined && shown === undefined) return;
    if (id !== undefined && originOf(object, id) === 'Created')
      facts.former = [id, ...(facts.former ?? [])].slice(0, mostFormer);
    await resource.writeStatus({ ...status, ownership: { installation } });
  }

  /** What a report says of what the resource stands for; nothing of what it only observes. */
  ownership(id: string): Pick<Report, 'ownership'> {
    const { resource, connection } = this.#context;
    const { object } = resource;
    if (isObserver(object) && ownedIDOf(object) === undefined) return {};
    return { ownership: { ...placeOf(connection), id, how: originOf(object, id) } };
  }

  /** What this process made is proven by its own status, whatever became of the rest. */
  withProof(report: Report): Report {
    const { resource, facts, connection } = this.#context;
    const { object } = resource;
    const isKnown = report.ownership !== undefined || ownershipOf(object).id !== undefined;
    if (isKnown || facts.made === undefined) return report;
    return { ...report, ownership: { ...placeOf(connection), id: facts.made.id, how: 'Created' } };
  }
}
