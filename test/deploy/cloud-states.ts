import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import {
  authorities,
  type ExternalCase,
  hooks,
  identifiedCases,
  idp,
  ipPolicies,
  type KindCase,
  type Parents,
  partCases,
  seedOf,
  specOf,
} from '../scenarios/kinds.ts';
import { until } from '../support/until.ts';
import type { Lab } from './lab.ts';
import { type Drive, type KindStates, never } from './states.ts';

type Json = Readonly<Record<string, unknown>>;

/** What the drives must know of a kind. Calls are written as the reference cloud's faults are. */
interface Backed {
  readonly kind: string;
  readonly spec: Json;
  readonly changed: Json;
  /** Refers to something that is missing. */
  readonly dependent: Json;
  readonly create: string;
  readonly update: string;
}

/** The only edges and the only route of each lab's cloud. */
const parents: Parents = { edge: 'edghts_example', route: 'edghtsrt_example', tlsEdge: 'edgtls_example' };
const keys = { name: 'keys', key: 'api-key' };
const wrong = { name: 'keys', key: 'wrong' };

/** What the kinds that the cloud backs refer to. */
export async function prepare({ cloud, give }: Lab): Promise<void> {
  cloud.seed({ ip_policies: ipPolicies, certificate_authorities: authorities, ...seedOf(parents) });
  await give('Secret', 'hooks', hooks);
  await give('ConfigMap', 'idp', idp);
  await give('Secret', keys.name, { [keys.key]: cloud.apiKey, [wrong.key]: 'wrong' });
}

const ready = ({ world, apply }: Lab, { kind, spec }: Backed) =>
  apply(kind, spec).then((object) => world.reason(object, 'Available'));

/** The resource while the first call that the fault strikes waits for an answer. */
async function hanging({ cloud, world }: Lab, call: string, act: () => Promise<ManagedObject>): Promise<ManagedObject> {
  const fault = `${call} hang`;
  cloud.fault(fault);
  const object = await act();
  await until(fault, () => cloud.server.faults.list().some(({ spec, struck }) => spec === fault && struck > 0));
  return (await world.get(object)) ?? object;
}

/** The resource when its first call meets a fault. */
const failing =
  ({ kind, spec, create }: Backed, fault: string, reason: string): Drive =>
  async ({ cloud, world, apply }) => {
    cloud.fault(`${create} ${fault}`);
    return world.reason(await apply(kind, spec), reason);
  };

function commonDrives(backed: Backed) {
  const { kind, spec, changed, dependent, create, update } = backed;
  return {
    new: ({ apply }) => apply(kind, spec),
    creating: (lab) => hanging(lab, create, () => lab.apply(kind, spec)),
    ready: (lab) => ready(lab, backed),
    updating: async (lab) => {
      await ready(lab, backed);
      return hanging(lab, update, () => lab.apply(kind, changed));
    },
    // 403 is about one action; after a 401 nothing more is sent with that key, for whichever resource.
    unauthorized: failing(backed, 'status=403', 'Unauthorized'),
    unreachable: failing(backed, 'status=503', 'Unreachable'),
    'rate-limited': failing(backed, 'status=429 retry-after=1', 'RateLimited'),
    'dependency-not-ready': async ({ world, apply }) =>
      world.reason(await apply(kind, dependent), 'DependencyNotReady'),
    paused: async ({ world, apply }) =>
      world.reason(await apply(kind, spec, { annotations: { [annotation.paused]: 'true' } }), 'Paused'),
    ...never('only a replay cannot be looked up', 'outcome-unknown'),
  } satisfies Partial<KindStates['drives']>;
}

const deleting =
  (backed: Backed, call: string, status: number, reason: string): Drive =>
  async (lab) => {
    const object = await ready(lab, backed);
    lab.cloud.fault(`${call} status=${status}`);
    await lab.world.delete(object);
    return lab.world.reason(object, reason);
  };

/** What the kinds that make something in an account have in common. */
function managedDrives(backed: Backed, remove: string) {
  const { kind, spec, changed, update } = backed;
  const missing = { annotations: { [annotation.externalID]: 'x_nothing' } };
  return {
    ...commonDrives(backed),
    rejected: async (lab) => {
      await ready(lab, backed);
      lab.cloud.fault(`${update} status=422`);
      return lab.world.reason(await lab.apply(kind, changed), 'Rejected');
    },
    'external-not-found': async ({ world, apply }) =>
      world.reason(await apply(kind, { ...spec, managementPolicy: 'Observe' }, missing), 'ExternalNotFound'),
    busy: failing(backed, 'status=409', 'Conflict'),
    deleting: deleting(backed, remove, 503, 'Unreachable'),
    'deleting-stalled': deleting(backed, remove, 403, 'Unauthorized'),
  } satisfies Partial<KindStates['drives']>;
}

/** Names that come before the recorded one's, so that it wins also when both were made in the same second. */
const older = { name: 'another' };
const nothing = { accountRef: { name: 'nothing' } };

/** The specs that the drives need, and the first of what is made. */
function specsOf(row: KindCase) {
  const { kind, externals } = row;
  const [first] = externals;
  if (first === undefined) throw new Error(`${kind} makes nothing`);
  const spec = specOf(row, parents, externals);
  const changing = (each: ExternalCase) => ({ ...each.spec, ...each.changes[0]?.spec });
  const changed = specOf(row, parents, externals, changing);
  return { first, specs: { kind, spec, changed, dependent: { ...spec, ...nothing } } };
}

function identified(row: KindCase): KindStates {
  const { first, specs } = specsOf(row);
  const { kind, spec } = specs;
  const path = first.path(parents);
  const backed = { ...specs, create: `POST ${path}`, update: `PATCH ${path}/*` };
  const post = async ({ cloud }: Lab, body: Json) => (await cloud.call('POST', path, body)).body.id as string;
  return {
    kind,
    drives: {
      ...managedDrives(backed, `DELETE ${path}/*`),
      'looking-up': failing(backed, 'reset', 'Creating'),
      conflict: async ({ world, apply }) => {
        const { status } = await world.reason(await apply(kind, spec, older), 'Available');
        return world.reason(
          await apply(kind, spec, { annotations: { [annotation.externalID]: status?.id } }),
          'Conflict',
        );
      },
      'ambiguous-create': async (lab) => {
        // What was made long before the create is not taken for its doing: the operator must be at work.
        await lab.world.reason(await lab.apply(kind, specs.changed, older), 'Available');
        await post(lab, first.sent);
        lab.cloud.fault(`POST ${path} drop count=1`);
        return lab.world.reason(await lab.apply(kind, spec), 'AmbiguousCreate');
      },
      drift: async (lab) => {
        const annotations = { [annotation.externalID]: await post(lab, { ...first.sent, ...first.drift.body }) };
        return lab.world.reason(
          await lab.apply(kind, { ...spec, managementPolicy: 'Observe' }, { annotations }),
          'DriftDetected',
        );
      },
    },
  };
}

function modules(row: KindCase): KindStates {
  const { first, specs } = specsOf(row);
  const { kind, spec } = specs;
  const paths = first.path(parents).replace(/[^/]*$/, '*');
  const backed = { ...specs, create: `PUT ${paths}`, update: `PUT ${paths}` };
  return {
    kind,
    drives: {
      ...managedDrives(backed, `DELETE ${paths}`),
      ...never('modules are replaced whole: what was sent is sent again', 'looking-up', 'ambiguous-create'),
      conflict: async ({ world, apply }) => {
        await world.reason(await apply(kind, spec, older), 'Available');
        return world.reason(await apply(kind, spec), 'Conflict');
      },
      drift: async ({ world, cloud, apply }) => {
        for (const part of row.externals) await cloud.call('PUT', part.path(parents), part.sent);
        await cloud.call('PUT', first.path(parents), { ...first.sent, ...first.drift.body });
        return world.reason(await apply(kind, { ...spec, managementPolicy: 'Observe' }), 'DriftDetected');
      },
    },
  };
}

function cloudAccount(): KindStates {
  const kind = 'CloudAccount';
  const spec = { apiKeySecretRef: keys };
  const changed = { ...spec, requestsPerMinute: 60 };
  const dependent = { apiKeySecretRef: { ...keys, name: 'nothing' } };
  const check = 'GET /bot_users';
  const backed = { kind, spec, changed, dependent, create: check, update: check };
  return {
    kind,
    drives: {
      ...commonDrives(backed),
      ...never('nothing is made for it', 'looking-up', 'ambiguous-create', 'busy'),
      ...never('nothing stands for it', 'external-not-found', 'drift', 'deleting-stalled'),
      ...never('several may have the same key', 'conflict'),
      // A fault would be about the key that the other kinds use at the same time.
      unauthorized: async ({ world, apply }) =>
        world.reason(await apply(kind, { apiKeySecretRef: wrong }), 'Unauthorized'),
      ready: async (lab) => {
        const object = await ready(lab, { ...backed, spec: { ...spec, endpointMirror: {} } });
        return until('the endpoints to be mirrored', async () => {
          const found = await lab.world.get(object);
          return found !== undefined && conditionOf(found, 'EndpointsMirrored')?.status === 'True' && found;
        });
      },
      // Nor may bot users meet one.
      unreachable: async ({ world, apply, nobody }) =>
        world.reason(await apply(kind, { ...spec, apiURL: nobody }), 'Unreachable'),
      rejected: async (lab) => {
        await ready(lab, backed);
        return lab.world.reason(
          await lab.apply(kind, { ...spec, apiURL: 'https://elsewhere.example.com' }),
          'Rejected',
        );
      },
      deleting: async (lab) => {
        const { world, apply } = lab;
        const account = await ready(lab, backed);
        const user = await apply(
          'BotUser',
          { name: 'user', accountRef: { name: account.metadata.name } },
          { name: 'user' },
        );
        await world.reason(user, 'Available');
        await world.delete(account);
        return world.reason(account, 'Deleting');
      },
    },
  };
}

/** The kinds that the cloud backs. */
export const cloudKinds: readonly KindStates[] = [
  ...identifiedCases.map(identified),
  ...partCases.map(modules),
  cloudAccount(),
];
