import { isUsableID } from '../../../common/cloud-id.ts';
import type { KubeObject } from '../../kube/types.ts';

const domain = 'edge-operator.dev';

export const finalizer = `${domain}/external-resource`;

const holding = `${domain}/in-use-by-`;

/** On a Secret: of each resource that needs it, one. */
export function holderFinalizer({ metadata: { uid = '' } }: { readonly metadata: { readonly uid?: string } }): string {
  return `${holding}${uid}`;
}

export function isHolderFinalizer(name: string): boolean {
  return name.startsWith(holding);
}

/** Every annotation of ours on a custom resource; a new one needs its room in a cache (bulk.ts). */
export const annotation = {
  /** The durable record of the external id; set by hand it imports an existing object. */
  externalID: `${domain}/external-id`,
  /** The external id that this resource created (did not import): such an object may be created again when it vanishes. */
  createdID: `${domain}/created-id`,
  /** The uid of the resource that the records are of: in a manifest that was copied, or restored, they say nothing. */
  recordOf: `${domain}/record-of`,
  /** A create that was begun and whose result is not recorded yet. */
  createIntent: `${domain}/create-intent`,
  /** The account that holds what this resource made: `default`, or `CloudAccount/` and a name. */
  account: `${domain}/account`,
  /** The address of the API where that account is. */
  apiURL: `${domain}/api-url`,
  /** Tells the key with which the object was there for the last time from others of the account (key-mark.ts). */
  keyMark: `${domain}/key-mark`,
  /** The installation of the operator that manages the resource. */
  installation: `${domain}/installation`,
  /** The Secret that this resource holds. */
  heldSecret: `${domain}/held-secret`,
  /** The parts that this resource applied, separated by commas. */
  appliedParts: `${domain}/applied-parts`,
  /** The tunnel that an AgentTunnel started in an agent, or was about to. */
  startedTunnel: `${domain}/started-tunnel`,
  /** A replay that was begun: when, and a nonce. Stays, so that it is never begun again. */
  replayIntent: `${domain}/replay-intent`,
  paused: `${domain}/paused`,
  reconcileAt: `${domain}/reconcile-at`,
  forceOrphan: `${domain}/force-orphan`,
  /** Names the installation, or the API address, that what is on record may be taken over from. */
  takeOver: `${domain}/take-over`,
} as const;

/** What people say by annotations; the other ones are records of the operator. */
const wishes: ReadonlySet<string> = new Set([
  annotation.paused,
  annotation.reconcileAt,
  annotation.forceOrphan,
  annotation.takeOver,
]);
const records: ReadonlySet<string> = new Set(Object.values(annotation).filter((name) => !wishes.has(name)));

/** What people may set. */
export const annotationsForPeople: readonly string[] = [annotation.externalID, ...wishes];

const known: ReadonlySet<string> = new Set(Object.values(annotation));

/** Of our domain, and read by nobody: whoever set it meant another. Of several the first. */
export function unknownAnnotationIn(annotations: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(annotations).find((name) => name.startsWith(`${domain}/`) && !known.has(name));
}

export function annotationOf(object: KubeObject, name: string): string | undefined {
  const value = object.metadata.annotations?.[name];
  return value === '' ? undefined : value;
}

/** Whatever it says but no: what somebody meant to pause is rather left alone. */
export function isPaused(object: KubeObject): boolean {
  return isWished(object, annotation.paused);
}

/**
 * A person has it go without a call, which a pause is no reason against. Whatever the annotation says but no: what somebody meant
 * to leave behind cannot be had back once it is deleted.
 */
export function isForced(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined && isWished(object, annotation.forceOrphan);
}

function isWished(object: KubeObject, name: string): boolean {
  return !/^(false|no|off|0)?$/i.test(annotationOf(object, name)?.trim() ?? '');
}

/** A record of this very resource. */
export function recordIn(object: KubeObject, name: string): string | undefined {
  const isOwn = annotationOf(object, annotation.recordOf) === object.metadata.uid;
  return isOwn ? annotationOf(object, name) : undefined;
}

/** What the operator keeps on record of the resource; one that somebody emptied is none. */
export function recordsOf({ metadata: { annotations = {} } }: KubeObject): Readonly<Record<string, string>> {
  // Mostly there is nothing else, and no copy is needed.
  if (areRecords(annotations)) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([name, value]) => isRecord(name, value)));
}

function areRecords(annotations: Readonly<Record<string, string>>): boolean {
  for (const name in annotations) if (!isRecord(name, annotations[name])) return false;
  return true;
}

const isRecord = (name: string, value: string | undefined): boolean => records.has(name) && value !== '';

/** What it has on record is of this very resource. */
export function hasRecords(object: KubeObject): boolean {
  return recordIn(object, annotation.recordOf) !== undefined;
}

/** As a patch: no record stays, but the id, which anybody may name. */
export function withoutRecords(object: KubeObject): Readonly<Record<string, null>> {
  const { [annotation.externalID]: _, ...others } = recordsOf(object);
  return Object.fromEntries(Object.keys(others).map((name) => [name, null]));
}

/**
 * As a patch: what is to be on record where somebody changed it. Which id it is to stand for anybody may write.
 *
 * @param known default what is there, if it is of this very resource
 */
export function recordsFor(
  object: KubeObject,
  known: Readonly<Record<string, string>> = hasRecords(object) ? recordsOf(object) : {},
): Readonly<Record<string, string | null>> {
  const named = annotationOf(object, annotation.externalID) ?? known[annotation.externalID] ?? null;
  return { ...withoutRecords(object), ...known, [annotation.externalID]: named };
}

/** The mark of a create that was begun and whose result is not recorded yet. */
export interface CreateIntent {
  /** RFC 3339, milliseconds. */
  readonly at: string;
  /** Whose clock `at` is of; the service's is known from its answers. */
  readonly clock: 'service' | 'own';
  /** Fingerprint of what was asked for: the spec may have changed since. */
  readonly content: string;
  /** The id that was answered, of what is otherwise and may be another's. */
  readonly answered?: string | undefined;
}

export function formatIntent({ at, clock, content, answered }: Partial<CreateIntent>): string {
  return JSON.stringify({ at, clock, content, answered });
}

/** Whether there is one, garbled or not. */
export function hasIntent(object: KubeObject): boolean {
  return recordIn(object, annotation.createIntent) !== undefined;
}

/** What is written there, with `undefined` for what a person garbled: a garbled intent is still an unresolved create. */
export function intentOf(object: KubeObject): Partial<CreateIntent> | undefined {
  const text = recordIn(object, annotation.createIntent);
  if (text === undefined) return undefined;
  try {
    const { at, clock, content, answered } = JSON.parse(text) as Record<string, unknown>;
    return {
      ...(typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { at } : {}),
      ...(clock === 'service' || clock === 'own' ? { clock } : {}),
      ...(typeof content === 'string' ? { content } : {}),
      ...(typeof answered === 'string' && isUsableID(answered) ? { answered } : {}),
    };
  } catch {
    return {};
  }
}
