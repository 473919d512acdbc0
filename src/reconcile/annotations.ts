import type { KubeObject } from '../kube/types.ts';

const domain = 'edge-operator.dev';

export const finalizer = `${domain}/external-resource`;

/** Annotations on a custom resource; README.md says which of them people set. */
export const annotation = {
  /** The durable record of the external id; set by hand it imports an existing object. */
  externalID: `${domain}/external-id`,
  /** The external id that this operator created (not imported): such an object may be created again when it vanishes. */
  createdID: `${domain}/created-id`,
  /** A create that was begun and whose result is not recorded yet. */
  createIntent: `${domain}/create-intent`,
  /** A replay that was begun: when, and a nonce. Stays, so that it is never begun again. */
  replayIntent: `${domain}/replay-intent`,
  /** The account that holds what this resource made: `default`, or `CloudAccount/` and a name. */
  account: `${domain}/account`,
  /** The parts that this resource applied, separated by commas. */
  appliedParts: `${domain}/applied-parts`,
  /** The tunnel that this resource started in an agent, or was about to. */
  startedTunnel: `${domain}/started-tunnel`,
  paused: `${domain}/paused`,
  reconcileAt: `${domain}/reconcile-at`,
  forceOrphan: `${domain}/force-orphan`,
} as const;

export function annotationOf(object: KubeObject, name: string): string | undefined {
  const value = object.metadata.annotations?.[name];
  return value === '' ? undefined : value;
}

/** What the operator keeps on record; the other annotations are people's. */
const records: readonly string[] = [
  annotation.externalID,
  annotation.createdID,
  annotation.account,
  annotation.createIntent,
  annotation.replayIntent,
  annotation.appliedParts,
  annotation.startedTunnel,
];

export function recordsOf({ metadata: { annotations = {} } }: KubeObject): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => records.includes(name)));
}

/** The parts that this resource applied and that are therefore its to remove; durable, unlike status. */
export function appliedParts(object: KubeObject): ReadonlySet<string> {
  const names = annotationOf(object, annotation.appliedParts)?.split(',') ?? [];
  return new Set(names.filter((name) => name !== ''));
}

/** The mark of a create that was begun and whose result is not recorded yet. */
export interface CreateIntent {
  readonly nonce: string;
  /** RFC 3339, milliseconds. */
  readonly at: string;
  /** Fingerprint of what was asked for: the spec may have changed since. */
  readonly content: string;
}

export function formatIntent(intent: CreateIntent): string {
  return JSON.stringify({ nonce: intent.nonce, at: intent.at, content: intent.content });
}

/** What is written there, with `undefined` for what a person garbled: a garbled intent is still an unresolved create. */
export function intentOf(object: KubeObject): Partial<CreateIntent> | undefined {
  const text = annotationOf(object, annotation.createIntent);
  if (text === undefined) return undefined;
  try {
    const { nonce, at, content } = JSON.parse(text) as Record<string, unknown>;
    return {
      ...(typeof nonce === 'string' ? { nonce } : {}),
      ...(typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { at } : {}),
      ...(typeof content === 'string' ? { content } : {}),
    };
  } catch {
    return {};
  }
}
