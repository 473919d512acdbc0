import { note } from '../acts.ts';
import { ownText, parentIn } from '../content.ts';
import { edgeOf } from '../edges.ts';
import { byRef, type CastResource } from '../scene.ts';
import { someTime } from '../times.ts';
import type { Habit } from './habit.ts';

/** One name for all of them. */
const crowd = { kind: 'ReservedAddr', namespace: 'a', name: 'absent-{{n}}', holds: 'main' } as const;

/** Of somebody who imports nothing, and has to wait. */
const other = { kind: 'ReservedAddr', namespace: 'b', name: 'not-absent', holds: 'main' } as const;

/** Of a kind that has no external id; the service refuses what it asks. */
const misnamed = { kind: 'HttpsRouteModules', namespace: 'a', name: 'misnamed', holds: 'main' } as const;
const edge = edgeOf.absentImports;

const reasons: Readonly<Record<string, string>> = { [crowd.name]: 'ExternalNotFound', [misnamed.name]: 'Rejected' };

export const absentImports: Habit = {
  about: 'many resources name ids that do not exist, one of them modules, beside one of somebody else',
  cast: (chance, scene) => {
    const bornAt = someTime(chance, scene);
    const absent: CastResource = {
      ...{ ...crowd, bornAt, times: chance.pick([20, 60, 200]) },
      spec: { description: ownText(crowd) },
      annotations: { [note.externalID]: 'ra_absent{{n}}' },
    };
    const modules: CastResource = {
      ...{ ...misnamed, bornAt },
      spec: { ...parentIn(misnamed.kind, edge), resyncIntervalSeconds: 30, ipRestriction: { ipPolicyIDs: ['ipp_0'] } },
      annotations: { [note.externalID]: 'ra_absent' },
    };
    const later = { ...other, bornAt: Math.min(scene.spanMs, bornAt + 20_000), spec: { description: ownText(other) } };
    return { ...scene, resources: [...scene.resources, absent, modules, later] };
  },
  plan: () => [],
  expect: ({ resources }) => byRef(resources, ({ name }) => reasons[name]),
};
