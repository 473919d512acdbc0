import type { Condition } from './fields.ts';
import type { Report } from './outcome.ts';

/**
 * The conditions that say what the report says, by kstatus' rules: Ready always, Reconciling and Stalled only while
 * True. lastTransitionTime stays while the status does.
 */
export function conditionsOf(
  report: Report<unknown>,
  generation: number,
  previous: readonly Condition[],
  now: Date,
): readonly Condition[] {
  const { reason, message } = report;
  const condition = (type: string, status: Condition['status']): Condition => {
    const before = previous.find((candidate) => candidate.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : rfc3339(now);
    return { type, status, observedGeneration: generation, lastTransitionTime, reason, message: cut(message) };
  };
  if (reason === 'Available') return [condition('Ready', 'True')];
  const ready = condition('Ready', reason === 'Paused' ? 'Unknown' : 'False');
  return [ready, condition(report.stalled ? 'Stalled' : 'Reconciling', 'True')];
}

/** metav1.Time has whole seconds. */
function rfc3339(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

function cut(message: string): string {
  return message.length <= 1024 ? message : `${message.slice(0, 1023)}…`;
}
