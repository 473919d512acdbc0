import { microTime } from './micro-time.ts';
import type { KubeObject, ResourceType } from './types.ts';

export const eventType: ResourceType = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
};

/** What happened to which object. */
export interface EventInput {
  readonly regarding: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** Why, in one CamelCase word; at most 128 bytes. */
  readonly reason: string;
  /** What was done, in one CamelCase word; at most 128 bytes. */
  readonly action: string;
  /** For people. */
  readonly note: string;
}

/** events.k8s.io/v1 */
export interface EventObject extends KubeObject {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  readonly note: string;
  readonly regarding: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

export interface Reporter {
  readonly controller: string;
  readonly instance: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Makes the event's name unique. */
  readonly suffix: string;
}

export function toEvent(input: EventInput, reporter: Reporter): EventObject {
  const { regarding, type, reason, action, note } = input;
  const { namespace, name, uid, resourceVersion } = regarding.metadata;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: namespace ?? 'default', name: eventName(name, reporter.suffix) },
    eventTime: microTime(reporter.now),
    reportingController: reporter.controller,
    reportingInstance: cutUtf8(reporter.instance, 128),
    action,
    reason,
    type,
    note,
    regarding: {
      apiVersion: regarding.apiVersion,
      kind: regarding.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}

/** At most so many bytes of UTF-8, never ending within a character. */
export function cutUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString('utf8');
}

/** Names have at most 253 characters, and no label of them may end in a dot or hyphen. */
function eventName(name: string, suffix: string): string {
  return `${name.slice(0, 253 - suffix.length - 1).replace(/[.-]+$/, '')}.${suffix}`;
}
