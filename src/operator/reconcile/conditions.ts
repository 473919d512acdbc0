import type { Report } from './outcome.ts';
import type { Condition } from './resource.ts';

/**
 * The conditions that say what the report says, by kstatus' rules: Ready always, Reconciling and Stalled only while
 * True, then those of the parts. lastTransitionTime stays while the status does.
 */
export function conditionsOf(
  report: Report,
  generation: number,
  previous: readonly Condition[],
  now: Date,
): readonly Condition[] {
  const condition = (type: string, status: Condition['status'], { reason, message }: Report): Condition => {
    const before = previous.find((candidate) => candidate.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : rfc3339(now);
    return { type, status, observedGeneration: generation, lastTransitionTime, reason, message: shown(message) };
  };
  const parts = (report.parts ?? []).map((part) =>
    condition(part.condition, part.status ?? readiness(part.report), part.report),
  );
  const ready = condition('Ready', readiness(report), report);
  if (report.reason === 'Available') return [ready, ...parts];
  return [ready, condition(report.stalled ? 'Stalled' : 'Reconciling', 'True', report), ...parts];
}

function readiness({ reason }: Report): Condition['status'] {
  if (reason === 'Available') return 'True';
  return reason === 'Paused' ? 'Unknown' : 'False';
}

/** metav1.Time has whole seconds. */
function rfc3339(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** A message as a condition has it, and as the API server keeps it: of whole characters. */
export function shown(message: string): string {
  return (message.length <= 1024 ? message : `${message.slice(0, 1023)}…`).toWellFormed();
}
