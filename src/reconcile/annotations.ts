import type { KubeObject } from '../kube/types.ts';

const domain = 'edge-operator.dev';

export const finalizer = `${domain}/external-resource`;

/** Annotations on a custom resource; design section 2. */
export const annotation = {
  /** The durable record of the external id; set by hand it imports an existing object. */
  externalID: `${domain}/external-id`,
  /** The external id that this operator created (not imported): such an object may be created again when it vanishes. */
  createdID: `${domain}/created-id`,
  /** A create that was begun and whose result is not recorded yet. */
  createIntent: `${domain}/create-intent`,
  paused: `${domain}/paused`,
  reconcileAt: `${domain}/reconcile-at`,
  forceOrphan: `${domain}/force-orphan`,
} as const;

export function annotationOf(object: KubeObject, name: string): string | undefined {
  const value = object.metadata.annotations?.[name];
  return value === '' ? undefined : value;
}

/** The mark of a create that was begun: who (nonce) and when (RFC 3339, milliseconds). */
export interface CreateIntent {
  readonly nonce: string;
  readonly at: string;
}

export function formatIntent(intent: CreateIntent): string {
  return JSON.stringify({ nonce: intent.nonce, at: intent.at });
}

/** An intent that a person garbled still counts as one: from the beginning of time, so that the look-up misses nothing. */
export function intentOf(object: KubeObject): CreateIntent | undefined {
  const text = annotationOf(object, annotation.createIntent);
  if (text === undefined) return undefined;
  try {
    const { nonce, at } = JSON.parse(text) as Partial<CreateIntent>;
    if (typeof nonce === 'string' && typeof at === 'string' && !Number.isNaN(Date.parse(at))) return { nonce, at };
  } catch {
    // Not JSON: handled below like any other garbled value.
  }
  return { nonce: text, at: new Date(0).toISOString() };
}
