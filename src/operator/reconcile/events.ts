import type { ReconcileContext } from './context.ts';

/** Events tell only what changed: a reconcile that found nothing to do emits none. */
export type EventReason =
  | 'Created'
  | 'Updated'
  | 'DriftCorrected'
  | 'Deleted'
  | 'Adopted'
  | 'Replayed'
  | 'Orphaned'
  | 'Failed';

/** Says once, as an event and as a log line, what happened to an external object. */
export function emit(
  context: Pick<ReconcileContext<never>, 'events' | 'log' | 'object'>,
  reason: EventReason,
  note: string,
): void {
  const warning = reason === 'Failed' || reason === 'Orphaned';
  context.events.record({
    regarding: context.object,
    type: warning ? 'Warning' : 'Normal',
    reason,
    action: 'Reconcile',
    note,
  });
  context.log[warning ? 'warn' : 'info'](note, { event: reason });
}
