import type { ReconcileContext } from './context.ts';

/** Design section 4: events tell only what changed. */
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
