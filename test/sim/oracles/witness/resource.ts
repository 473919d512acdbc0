import { type Fields, fieldsOf, textOf } from './json.ts';
import { Timeline } from './timeline.ts';

export const domain = 'edge-operator.dev';
export const finalizer = `${domain}/external-resource`;

/** What people wish by annotations of a resource; the other ones of our domain are records of operators. */
export const annotationNames = {
  externalID: `${domain}/external-id`,
  paused: `${domain}/paused`,
  forceOrphan: `${domain}/force-orphan`,
  reconcileAt: `${domain}/reconcile-at`,
  takeOver: `${domain}/take-over`,
} as const;

/** Kinds of our API; each is managed through the cloud but the last three. */
export const kinds = [
  'ReservedAddr',
  'BotUser',
  'HttpsRouteModules',
  'HttpsEdgeModules',
  'TlsEdgeTrafficPolicy',
  'CloudAccount',
  'Agent',
  'AgentTunnel',
  'RequestReplay',
] as const;

export type Kind = (typeof kinds)[number];

export const isKind = (text: string): text is Kind => (kinds as readonly string[]).includes(text);

/** What people, and operators in its metadata, say of a resource. */
export interface Version {
  readonly at: number;
  readonly generation: number;
  readonly spec: Fields;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly deleting: boolean;
  /** The process that wrote it; undefined: a person, or Kubernetes itself. Known when the request has been answered. */
  by?: string;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number | undefined;
  readonly lastTransitionTime: string;
}

/** One state of a status. */
export interface Status {
  readonly at: number;
  readonly fields: Fields;
  readonly observedGeneration: number | undefined;
  readonly conditions: readonly Condition[];
  by?: string;
}

/** One resource of our API, from its creation to its end. */
export class Resource {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly versions = new Timeline<Version>();
  readonly statuses = new Timeline<Status>(50);
  /** When it went; undefined while it is there. */
  goneAt: number | undefined;
  /** The process that let it go; undefined: a person, or Kubernetes itself. */
  goneBy: string | undefined;
  /** It went because Kubernetes was restored from a backup. */
  lostByRestore = false;

  constructor(kind: Kind, metadata: Fields, now: number) {
    this.kind = kind;
    this.namespace = textOf(metadata.namespace) ?? '';
    this.name = textOf(metadata.name) ?? '';
    this.uid = textOf(metadata.uid) ?? '';
    this.createdAt = now;
  }

  /** As people name it. */
  get key(): string {
    return `${this.kind} ${this.namespace}/${this.name}`;
  }

  /** As it is now, or was last. */
  get version(): Version {
    return this.versions.last as Version;
  }

  get status(): Status | undefined {
    return this.statuses.last;
  }

  get ready(): Condition | undefined {
    return conditionOf(this.status, 'Ready');
  }

  get labels(): Readonly<Record<string, string>> {
    return this.version.labels;
  }

  get lives(): boolean {
    return this.goneAt === undefined;
  }

  /** Whether it was there at some moment of that time. */
  livedIn(from: number, to: number): boolean {
    return this.createdAt <= to && (this.goneAt === undefined || this.goneAt >= from);
  }
}

/** The installation that manages it, by its records: those of an installation are named by its namespace, with its uid. */
export function managerOf({ status, version }: Resource): string | undefined {
  const recorded =
    textOf(fieldsOf(status?.fields.ownership).installation) ?? version.annotations[`${domain}/installation`];
  return textOf(recorded)?.replace(/^edge-operator-|-[0-9a-f]{8}$/g, '');
}

/** Another installation's account of the same name may be another one: what it has is not counted. */
export function isOfSameManager(one: Resource, other: Resource): boolean {
  const [a, b] = [managerOf(one), managerOf(other)];
  return a === undefined || b === undefined || a === b;
}

export function conditionOf(status: Status | undefined, type: string): Condition | undefined {
  return status?.conditions.find((condition) => condition.type === type);
}

/** Of a part of modules; a policy is all that there is to its resource. */
export function partCondition(status: Status | undefined, part: string): Condition | undefined {
  const type = part === 'trafficPolicy' ? 'ready' : `${part}Ready`.toLowerCase();
  return status?.conditions.find((condition) => condition.type.toLowerCase() === type);
}

export const isPaused = ({ annotations }: Version): boolean => annotations[annotationNames.paused] === 'true';
export const isForced = ({ annotations }: Version): boolean => annotations[annotationNames.forceOrphan] === 'true';
export const isObserved = ({ spec }: Version): boolean => spec.managementPolicy === 'Observe';
export const isRetained = ({ spec }: Version): boolean =>
  spec.deletionPolicy === 'Retain' || spec.managementPolicy === 'Observe';
/** The version that brought the mark of its open create, as it is. */
export function markedVersionOf({ version, versions }: Resource): Version | undefined {
  return isMarked(version) ? versions.all.find((each) => markIn(each) === markIn(version)) : undefined;
}

/** The version with which its open create was begun, whatever date its mark was given since: with the same key. */
export function begunVersionOf({ version, versions: { all } }: Resource): Version | undefined {
  if (!isMarked(version)) return undefined;
  const keyIn = ({ annotations }: Version) => annotations[`${domain}/key-mark`];
  const isSame = (each: Version) => isMarked(each) && keyIn(each) === keyIn(version);
  const first = all[all.findLastIndex((each) => !isSame(each)) + 1];
  // Records that a person sets back are of the create that they were of.
  return first && all.find((each) => markIn(each) === markIn(first));
}

const markIn = ({ annotations }: Version) => annotations[`${domain}/create-intent`];

/** The account that its record names; a name of undefined is the default one. */
export function recordedAccountOf({ annotations }: Version): { readonly name: string | undefined } | undefined {
  const account = annotations[`${domain}/account`];
  return account === undefined ? undefined : { name: account.split('/')[1] };
}

export const isMarked = (version: Version): boolean => markIn(version) !== undefined;
export const externalIDOf = ({ annotations }: Version): string | undefined =>
  annotations[annotationNames.externalID] || undefined;

export function versionOf(object: Fields, at: number): Version {
  const metadata = fieldsOf(object.metadata);
  return {
    at,
    generation: Number(metadata.generation ?? 0),
    spec: fieldsOf(object.spec),
    annotations: textMap(metadata.annotations),
    labels: textMap(metadata.labels),
    finalizers: Array.isArray(metadata.finalizers) ? metadata.finalizers.map(String) : [],
    deleting: metadata.deletionTimestamp !== undefined,
  };
}

export function statusOf(object: Fields, at: number): Status {
  const { observedGeneration, conditions, ...fields } = fieldsOf(object.status);
  return {
    at,
    fields,
    observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : undefined,
    conditions: (Array.isArray(conditions) ? conditions : []).map(conditionFrom),
  };
}

function conditionFrom(value: unknown): Condition {
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = fieldsOf(value);
  return {
    type: String(type),
    status: String(status),
    reason: String(reason ?? ''),
    message: String(message ?? ''),
    observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : undefined,
    lastTransitionTime: String(lastTransitionTime ?? ''),
  };
}

function textMap(value: unknown): Readonly<Record<string, string>> {
  return fieldsOf(value) as Readonly<Record<string, string>>;
}
