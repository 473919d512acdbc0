import { annotation } from './annotations.ts';
import { isLarger } from './bounds.ts';
import type { ManagedObject } from './resource.ts';

/*
 * What a cache keeps of a resource. Tenants decide how large and how many their resources are, so a large one is kept
 * without what is large in it, and read anew when it is reconciled.
 */

/** In bytes of JSON, roughly: of a spec that is kept whole. A ReservedAddr with the longest metadata is. */
const mostSpecBytes = 6 * 1024;
/** Of one field of a larger spec. */
const mostFieldBytes = 512;
/** Of one annotation, which may be the record of a tunnel with the longest address, as asked and as shown; and of all. */
const mostAnnotationBytes = 6 * 1024;
const mostAnnotationsBytes = 8 * 1024;

/**
 * What people write, but for addresses to take over from: too long to be understood it says that much still, as that somebody
 * meant to pause.
 */
const mostWishBytes = 256;
const clipped: ReadonlySet<string> = new Set([
  annotation.externalID,
  annotation.paused,
  annotation.reconcileAt,
  annotation.forceOrphan,
]);

const known: ReadonlySet<string> = new Set(Object.values(annotation));

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
  const spec = Object.fromEntries(Object.entries(object.spec).map(([name, value]) => [name, withoutLarge(value)]));
  const cached: Cached = { ...slim, spec, [lacksBulk]: true };
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

function withoutLarge(value: unknown): unknown {
  if (!isLarger(value, mostFieldBytes)) return value;
  if (Array.isArray(value)) return [];
  return typeof value === 'string' ? '' : {};
}

/**
 * Those of our domain, known ones first, as far as they are of a size that we would write, and of what people write the
 * beginning. Of them the shortest first: our records are short, and must not give way to what somebody made long.
 */
function ownAnnotations(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  // Mostly there are no others, and no copy is needed.
  if (areOwn(annotations)) return annotations;
  const short = Object.entries(annotations).map(([name, value]): [string, string] => [name, clip(name, value)]);
  const own = short.filter(([name, value]) => isOwn(name, value));
  const kept: Record<string, string> = {};
  let bytes = 0;
  const order = ([a, one]: readonly [string, string], [b, other]: readonly [string, string]) =>
    Number(known.has(b)) - Number(known.has(a)) || one.length - other.length;
  for (const [name, value] of own.toSorted(order)) {
    bytes += name.length + value.length;
    if (bytes <= mostAnnotationsBytes) kept[name] = value;
  }
  return kept;
}

function areOwn(annotations: Readonly<Record<string, string>>): boolean {
  let bytes = 0;
  for (const name in annotations) {
    const value = annotations[name] ?? '';
    bytes += name.length + value.length;
    if (bytes > mostAnnotationsBytes || !isOwn(name, value) || clip(name, value) !== value) return false;
  }
  return true;
}

function clip(name: string, value: string): string {
  if (!clipped.has(name) || value.length <= mostWishBytes) return value;
  return value.slice(0, mostWishBytes).toWellFormed();
}

function isOwn(name: string, value: string): boolean {
  return name.startsWith('edge-operator.dev/') && value.length <= mostAnnotationBytes;
}
