import { annotation, unknownAnnotationIn } from './annotations.ts';
import { bytesOf, isLarger } from './bounds.ts';
import type { ManagedObject } from './resource.ts';

/*
 * What a cache keeps of a resource. Tenants decide how large and how many their resources are, so a large one is kept
 * without what is large in it, and read anew when it is reconciled.
 */

/** In bytes of JSON, roughly: of a spec that is kept whole. A ReservedAddr with the longest metadata is. */
const mostSpecBytes = 6 * 1024;
/** Of one field of a larger spec; and of a text, of which a kind has few: by the longest name of a tunnel its rivals are found. */
const mostFieldBytes = 512;
const mostTextBytes = 1024;
type Name = keyof typeof annotation;

/** Room for a name or an id of anything, for a mark and for an intent. */
const short = 256;
/** For the address of an API, as specs may have it, and a bit more. */
const address = 2_304;

/**
 * What each annotation of ours may hold, in characters: more than the longest that the operator ever writes there, and more
 * than any id that is one. What is longer was not written by the operator. Its beginning is kept: none of what it means to
 * say can be read from that, but that it says something still counts, as that somebody meant to pause, or that a replay was
 * begun. Each has room of its own, so that none gives way to what somebody else wrote.
 */
const rooms: Readonly<Record<Name, number>> = {
  externalID: short,
  createdID: short,
  recordOf: short,
  createIntent: short,
  /** With the name of a CloudAccount. */
  account: 2 * short,
  apiURL: address,
  keyMark: short,
  installation: short,
  heldSecret: short,
  appliedParts: short,
  /** The longest address of an agent and the longest name, each as JSON; and what earlier versions wrote, whole definitions. */
  startedTunnel: 8 * 1024,
  replayIntent: short,
  paused: short,
  reconcileAt: short,
  forceOrphan: short,
  takeOver: address,
};
const mostOf: ReadonlyMap<string, number> = new Map(
  Object.entries(rooms).map(([key, most]) => [annotation[key as Name], most]),
);

const lacksBulk = Symbol('lacks bulk');

type Cached = ManagedObject & { readonly [lacksBulk]?: true };
type Whole = ManagedObject['metadata'] & { readonly managedFields?: unknown };

/**
 * The resource without what nobody reads in a cache: labels, owners, and annotations of others; and without what is large
 * in its spec. A field of the spec that is left out is empty instead, so that it still shows that it is there.
 */
export function withoutBulk(object: ManagedObject): ManagedObject {
  const slim = withoutForeign(object);
  if (!isLarger(object.spec, mostSpecBytes)) return slim;
  // Each once: of an object with a hundred thousand keys the first of them takes as long as all.
  const fields = Object.entries(object.spec).map(([name, value]) => ({
    name,
    value,
    bytes: bytesOf(value, mostSpecBytes),
  }));
  if (fields.reduce((sum, { name, bytes }) => sum + name.length + bytes, 0) <= mostSpecBytes) return slim;
  const kept = fields.map(({ name, value, bytes }) => [name, isBulk(value, bytes) ? emptied(value) : value]);
  const cached: Cached = { ...slim, spec: Object.fromEntries(kept), [lacksBulk]: true };
  return cached;
}

/** The resource with all of its spec, as `withoutBulk` has the rest; also of one that was read alone. */
export function withoutForeign(object: ManagedObject): ManagedObject {
  const { labels: _, ownerReferences: __, managedFields: ___, annotations, ...metadata } = object.metadata as Whole;
  const kept = annotations === undefined ? {} : { annotations: ownAnnotations(annotations) };
  return { ...object, metadata: { ...metadata, ...kept } };
}

/** Nothing of its spec was left out. */
export function isWhole(object: ManagedObject): boolean {
  return (object as Cached)[lacksBulk] !== true;
}

function isBulk(value: unknown, bytes: number): boolean {
  return bytes > (typeof value === 'string' ? mostTextBytes : mostFieldBytes);
}

function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return typeof value === 'string' ? '' : {};
}

/** Those that mean something, each as far as it has room; and of those of our domain that do not the name of one, to tell of it. */
function ownAnnotations(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  // Mostly there are no others, and no copy is needed.
  if (areOwn(annotations)) return annotations;
  const unknown = unknownAnnotationIn(annotations);
  const kept: Record<string, string> = unknown === undefined ? {} : { [unknown]: '' };
  for (const [name, most] of mostOf) {
    const value = annotations[name];
    if (value !== undefined) kept[name] = value.length <= most ? value : value.slice(0, most).toWellFormed();
  }
  return kept;
}

function areOwn(annotations: Readonly<Record<string, string>>): boolean {
  for (const name in annotations) if ((annotations[name] ?? '').length > (mostOf.get(name) ?? -1)) return false;
  return true;
}
