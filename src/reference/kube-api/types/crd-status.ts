import { type JsonMap, listOf, mapOf, stringsOf } from '../json.ts';
import type { ApiObject } from '../object.ts';

/** The status of a definition that is served. */
export function establishedStatus(crd: ApiObject, now: string): JsonMap {
  const { names, versions } = mapOf(crd.spec);
  const stored = listOf(versions)
    .map(mapOf)
    .filter((version) => version.storage === true);
  return {
    conditions: withConditions(crd, now, [
      ['NamesAccepted', 'NoConflicts', 'no conflicts found'],
      ['Established', 'InitialNamesAccepted', 'the initial names have been accepted'],
    ]),
    acceptedNames: names,
    storedVersions: [
      ...new Set([...stringsOf(mapOf(crd.status).storedVersions), ...stored.map(({ name }) => String(name))]),
    ],
  };
}

/** The status of a definition whose objects are being deleted. */
export function terminatingStatus(crd: ApiObject, now: string): JsonMap {
  const conditions = withConditions(crd, now, [
    ['Terminating', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'],
  ]);
  return { ...mapOf(crd.status), conditions };
}

type Condition = readonly [type: string, reason: string, message: string];

/** The conditions so far, and those given that are not true yet. */
function withConditions(crd: ApiObject, lastTransitionTime: string, given: readonly Condition[]): readonly JsonMap[] {
  const old = listOf(mapOf(crd.status).conditions).map(mapOf);
  const isTrue = (type: string) => old.some((known) => known.type === type && known.status === 'True');
  const added = given.filter(([type]) => !isTrue(type));
  return [
    ...old.filter(({ type }) => !added.some(([name]) => name === type)),
    ...added.map(([type, reason, message]) => ({ type, status: 'True', lastTransitionTime, reason, message })),
  ];
}
