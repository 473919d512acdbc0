import { type Condition, conditionOf, type Resource } from '../witness/resource.ts';
import { second } from '../witness/witness.ts';

/** Between the writing and its arrival. */
const slackMs = 2 * second;

/** What is wrong with the status that was just written, whatever it speaks of (kstatus, Kubernetes API conventions). */
export function problemsOf(resource: Resource, clockMs: number | undefined): readonly string[] {
  const { status, version } = resource;
  if (status === undefined || status.conditions.length === 0) return [];
  const { conditions, observedGeneration } = status;
  const ready = conditionOf(status, 'Ready');
  const beside = conditions.filter(({ type }) => type === 'Reconciling' || type === 'Stalled');
  const problems: string[] = [];
  const when = (isWrong: boolean, what: string) => isWrong && problems.push(what);
  when(new Set(conditions.map(({ type }) => type)).size < conditions.length, 'has a condition twice');
  when(ready === undefined, 'has no condition Ready');
  when(
    beside.some((each) => each.status !== 'True'),
    'has Reconciling or Stalled while it is not True',
  );
  when(beside.length > 1, 'is Reconciling and Stalled');
  when(ready?.status === 'True' && beside.length > 0, `is Ready and ${beside[0]?.type}`);
  when(
    ready !== undefined && ready.status !== 'True' && beside.length === 0,
    'is neither Ready, Reconciling nor Stalled',
  );
  when(
    (observedGeneration ?? 0) > version.generation,
    `observed generation ${observedGeneration} of ${version.generation}`,
  );
  when(ready?.observedGeneration !== observedGeneration, 'has a condition of another generation than its status');
  for (const condition of conditions) problems.push(...timeProblems(resource, condition, clockMs));
  return problems;
}

/** A time that stands from before, in Kubernetes or in a cache that is behind, may be of another clock. */
function timeProblems({ statuses }: Resource, condition: Condition, clockMs: number | undefined): readonly string[] {
  const { type, lastTransitionTime } = condition;
  const stoodBefore = statuses.all
    .slice(0, -1)
    .some((status) => conditionOf(status, type)?.lastTransitionTime === lastTransitionTime);
  if (stoodBefore || clockMs === undefined) return [];
  const at = Date.parse(lastTransitionTime);
  if (Number.isNaN(at)) return [`has ${type} since ${lastTransitionTime}`];
  return at > clockMs + slackMs ? [`has ${type} since a time in the future`] : [];
}
