import type { Log, LogFields } from '../../../common/log.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { CurrentResource } from '../resource/current-resource.ts';

/** Events tell only what changed: a reconcile that found nothing to do emits none. */
export type EventReason =
  | 'Created'
  | 'Updated'
  | 'DriftCorrected'
  | 'Deleted'
  | 'Adopted'
  | 'Replayed'
  | 'Orphaned'
  | 'UnknownAnnotation'
  | 'Failed'
  | 'Recovered';

const warnings: ReadonlySet<EventReason> = new Set(['Orphaned', 'UnknownAnnotation', 'Failed']);

export interface Recorder {
  record(event: {
    regarding: KubeObject;
    type: 'Normal' | 'Warning';
    reason: string;
    action: string;
    note: string;
  }): void;
}

/** Where it is said what happens to resources. */
export interface Telling {
  readonly events: Recorder;
  readonly log: Log;
  readonly onDriftCorrected?: () => void;
}

/**
 * Says once, as an event and as a log line, what happened to what a resource stands for.
 * @param fields for the line alone
 */
export function emit(
  { events, log, onDriftCorrected }: Telling,
  object: KubeObject,
  reason: EventReason,
  note: string,
  fields: LogFields = {},
): void {
  const warning = warnings.has(reason);
  events.record({ regarding: object, type: warning ? 'Warning' : 'Normal', reason, action: 'Reconcile', note });
  log[warning ? 'warn' : 'info'](note, { event: reason, ...fields });
  if (reason === 'DriftCorrected') onDriftCorrected?.();
}

/** What is said of one resource. */
export class Journal {
  readonly #resource: Pick<CurrentResource, 'object'>;
  readonly #telling: Telling;

  constructor(resource: Pick<CurrentResource, 'object'>, telling: Telling) {
    this.#resource = resource;
    this.#telling = telling;
  }

  /** For whoever has the resource. */
  event(reason: EventReason, note: string): void {
    emit(this.#telling, this.#resource.object, reason, note);
  }

  /** For whoever runs the operator alone. */
  info(message: string): void {
    this.#telling.log.info(message);
  }
}

/** Knows whether anything was recorded. */
export function heard(events: Recorder) {
  let hasTold = false;
  const record: Recorder['record'] = (event) => {
    hasTold = true;
    events.record(event);
  };
  return { events: { record }, hasTold: () => hasTold };
}
