import type { Condition } from '../resource/resource.ts';
import type { PartReport, Report } from './outcome.ts';

export interface ConditionsOptions {
  /** Those that are there. */
  readonly previous: readonly Condition[];
  /** Types of those beside Ready that are the kind's; others are somebody else's, and stay. */
  readonly own: readonly string[];
  /** Of those, what the resource has by its spec. */
  readonly asked: readonly string[];
  readonly now: Date;
}

const common = ['Ready', 'Reconciling', 'Stalled'];

/**
 * The conditions that say what the report says, by kstatus' rules: Ready always, Reconciling and Stalled only while
 * True, then those of the parts, and those of others. lastTransitionTime stays while the status does. Where nothing was found
 * out of the parts, what keeps the whole from getting ready keeps each of them.
 */
export function conditionsFor(
  report: Report,
  generation: number,
  { previous, own, asked, now }: ConditionsOptions,
): readonly Condition[] {
  const condition = (type: string, status: Condition['status'], { reason, message }: Report): Condition => {
    const before = previous.find((candidate) => candidate.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : rfc3339(now);
    return { type, status, observedGeneration: generation, lastTransitionTime, reason, message: shown(message) };
  };
  const others = previous.filter(({ type }) => !common.includes(type) && !own.includes(type));
  const withheld: readonly PartReport[] =
    report.reason === 'Available' ? [] : asked.map((type) => ({ condition: type, report }));
  const parts = [
    ...(report.parts ?? withheld).map((part) =>
      condition(part.condition, part.status ?? readiness(part.report), part.report),
    ),
    ...others,
  ];
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
