import type { Chance } from '../../core/random.ts';
import type { Act, Manifest } from '../../core/story.ts';
import { annotate, apply, manifestOf, note, refused, refusedEdit } from '../acts.ts';
import { otherSpec, type Role, refusedSpec, roleOf } from '../content.ts';
import { isModules, type Scene } from '../scene.ts';
import { isMap, type Json, type JsonMap } from '../specs/schemas.ts';
import { after, someTime, times } from '../times.ts';
import type { Habit } from './habit.ts';

/** What somebody edits: a resource, or an account. */
interface Edited {
  readonly role: Role;
  readonly spec: JsonMap;
  readonly bornAt: number;
}

type Way = (edited: Edited, chance: Chance, scene: Scene) => readonly Act[];

const manifest = ({ role }: Edited, spec: JsonMap): Manifest => manifestOf({ ...role, spec });

const other = ({ role, spec }: Edited, chance: Chance): JsonMap =>
  otherSpec(role, spec, chance, {
    fields: chance.pick(['any', 'any', 'all', 'none']),
    values: chance.pick(['any', 'any', 'most', 'least']),
  });

const once: Way = (edited, chance, scene) => [
  apply(someTime(chance, scene, edited.bornAt), manifest(edited, other(edited, chance))),
];

/** A to B to A: what is sent late must not win. */
const thereAndBack: Way = (edited, chance, scene) => {
  const there = someTime(chance, scene, edited.bornAt);
  return [
    apply(there, manifest(edited, other(edited, chance))),
    apply(after(chance, scene, there), manifest(edited, edited.spec)),
  ];
};

/** Faster than any of them is carried out. */
const burst: Way = (edited, chance, scene) => {
  let at = someTime(chance, scene, edited.bornAt);
  return Array.from({ length: chance.int(3, 7) }, () => {
    at = after(chance, scene, at, 1, 300);
    return apply(at, manifest(edited, chance.chance(0.2) ? edited.spec : other(edited, chance)));
  });
};

const refusedThenRight: Way = (edited, chance, scene) => {
  const at = someTime(chance, scene, edited.bornAt);
  return [
    refused(at, manifest(edited, refusedSpec(edited.role, chance))),
    apply(after(chance, scene, at), manifest(edited, other(edited, chance))),
  ];
};

/** What only the cloud can refuse, and then what it takes. */
const rejectedThenRight: Way = (edited, chance, scene) => {
  const wrong = rejected(edited);
  if (wrong === undefined) return refusedThenRight(edited, chance, scene);
  const at = someTime(chance, scene, edited.bornAt);
  return [
    apply(at, manifest(edited, wrong)),
    apply(after(chance, scene, at, 10, 120_000), manifest(edited, other(edited, chance))),
  ];
};

/** What cannot be changed is tried, and refused. */
const immutable: Way = ({ role, spec, bornAt }, chance, scene) => {
  const at = someTime(chance, scene, bornAt);
  if (role.kind === 'ReservedAddr') return [refusedEdit(at, role, { region: spec.region === 'eu' ? 'us' : 'eu' })];
  return isModules(role) ? [refusedEdit(at, role, { edgeID: 'edge_other' })] : [];
};

/** A field of a module, and nothing else. */
const leaveOut: Way = (edited, chance, scene) => {
  const { role, spec, bornAt } = edited;
  const fields = isModules(role) ? Object.entries(spec).flatMap(([part, asked]) => optionalIn(part, asked)) : [];
  if (fields.length === 0) return once(edited, chance, scene);
  const [part, field] = chance.pick(fields);
  const { [field]: _, ...rest } = spec[part] as JsonMap;
  return [apply(someTime(chance, scene, bornAt), manifest(edited, { ...spec, [part]: rest }))];
};

function optionalIn(part: string, asked: Json): readonly (readonly [part: string, field: string])[] {
  const needed = ['idpMetadata', 'idpMetadataFrom', 'provider', 'secretRef'];
  const fields = isMap(asked) && !['policy', 'policyFrom', 'accountRef'].includes(part) ? Object.keys(asked) : [];
  return fields.filter((field) => !needed.includes(field)).map((field) => [part, field]);
}

const reconcileNow: Way = ({ role, bornAt }, chance, scene) =>
  times(chance, scene, 2, bornAt).map((at) => annotate(at, role, { [note.reconcileAt]: `${at}` }));

const ways: readonly Way[] = [
  ...[once, once, thereAndBack, thereAndBack, burst, burst],
  ...[refusedThenRight, rejectedThenRight, immutable, leaveOut, reconcileNow],
];

export const edits: Habit = {
  about: 'specs change: A to B, A to B to A, in bursts; fields leave them; what is refused is corrected',
  plan: (chance, scene) => {
    const all = editedIn(scene);
    return Array.from({ length: chance.int(2, 6) }, () => chance.pick(ways)(chance.pick(all), chance, scene)).flat();
  },
};

function editedIn({ resources, accounts }: Scene): readonly Edited[] {
  return [
    ...resources.map((resource) => ({ ...resource, role: roleOf(resource) })),
    ...accounts.map((account) => ({ ...account, role: { kind: 'CloudAccount', ...account } })),
  ].map(({ role, spec, bornAt }) => ({ role, spec, bornAt }));
}

function rejected({ role: { kind }, spec }: Edited): JsonMap | undefined {
  const id = (prefix: string) => `${prefix}_${'unknown'.padEnd(27, '0')}`;
  if (kind === 'ReservedAddr') return { ...spec, endpointConfigurationID: id('ec') };
  if (kind === 'HttpsRouteModules') return { ...spec, ipRestriction: { ipPolicyIDs: [id('ipp')] } };
  if (kind === 'HttpsEdgeModules') return { ...spec, mutualTLS: { certificateAuthorityIDs: [id('ca')] } };
  return undefined;
}
