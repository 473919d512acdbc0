import type { Turn } from './turn.ts';

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
export function announce(
  turn: Pick<Turn<never>, 'events' | 'log' | 'object'>,
  reason: EventReason,
  note: string,
): void {
  const warning = reason === 'Failed' || reason === 'Orphaned';
  turn.events.record({
    regarding: turn.object,
    type: warning ? 'Warning' : 'Normal',
    reason,
    action: 'Reconcile',
    note,
  });
  turn.log[warning ? 'warn' : 'info'](note, { event: reason });
}
