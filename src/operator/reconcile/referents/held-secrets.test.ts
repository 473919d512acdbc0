import { beforeEach, expect, test } from '@jest/globals';
import { type Log, silentLog } from '../../../common/log.ts';
import type { KubeClient } from '../../kube/client.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeObject, ResourceType } from '../../kube/types.ts';
import { annotation, holderFinalizer } from '../resource/annotations.ts';
import type { CurrentResource } from '../resource/current-resource.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { HeldSecrets } from './held-secrets.ts';

const type: ResourceType = { group: 'g', version: 'v1', plural: 'accounts', kind: 'Account', namespaced: true };
const foreign = holderFinalizer({ metadata: { uid: 'another' } });

function holder(annotations: Readonly<Record<string, string>> = {}, uid = 'u'): ManagedObject {
  const metadata = { namespace: 'ns', name: 'a', uid, annotations };
  return { apiVersion: 'g/v1', kind: 'Account', metadata, spec: {} };
}

const own = holderFinalizer(holder());
const recording = (name: string) => ({ [annotation.recordOf]: 'u', [annotation.heldSecret]: name });

let secrets: Map<string, KubeObject>;
/** Accounts that are there, besides the holder. */
let others: readonly ManagedObject[];
let lists: number;
let patches: number;
/** How many of the next writes come too late. */
let conflicts: number;
/** Of the right to read and write Secrets. */
let isForbidden: boolean;
/** By who admits writes, who says so or takes the finalizers out. */
let isDenied: boolean;
let isIgnored: boolean;
let warnings: [message: string, fields: object | undefined][];
let held: HeldSecrets;

const client = {
  /** The namespace of the holder. */
  get: async () => ({ metadata: {} }),
  list: async (_: unknown, { fieldSelector }: { fieldSelector: string }) => {
    if (isForbidden) throw new KubeError('listing', { status: 403, reason: 'Forbidden', message: 'may not' });
    const found = secrets.get(fieldSelector.replace('metadata.name=', ''));
    return { items: found === undefined ? [] : [found] };
  },
  /** Of the namespace's accounts. */
  listAll: async (_: unknown, { keep }: { keep: (object: KubeObject) => KubeObject }) => {
    lists++;
    if (isForbidden) throw new KubeError('listing', { status: 403, reason: 'Forbidden', message: 'may not' });
    return { items: [holder(), ...others].map(keep) };
  },
  patch: async (_: unknown, { name }: { name: string }, { body }: { body: KubeObject }) => {
    patches++;
    const before = secrets.get(name);
    if (conflicts-- > 0 || before?.metadata.resourceVersion !== body.metadata.resourceVersion)
      throw new KubeError('patching', { status: 409, reason: 'Conflict', message: 'has been modified' });
    if (isDenied) throw new KubeError('patching', { status: 422, reason: 'Invalid', message: 'policy denied it' });
    if (!isIgnored) give(name, body.metadata.finalizers ?? []);
    return secrets.get(name);
  },
};

function give(name: string, finalizers: readonly string[]): void {
  secrets.set(name, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...{ namespace: 'ns', name, uid: name, resourceVersion: `${patches}` },
      // As the API server leaves it out.
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
  });
}

const finalizersOf = (name: string) => secrets.get(name)?.metadata.finalizers;
const secret = (name: string, isUsable = true) => ({
  ...{ name, isUsable, metadata: secrets.get(name)?.metadata },
  noteHeld: (finalizer: string) => void noted.push(finalizer),
});

function current(object: ManagedObject): CurrentResource {
  const confirm = async () => {
    if (isGone) throw new Error('it has gone');
  };
  const resource = { object, record: async () => {}, confirm };
  return resource as unknown as CurrentResource;
}

let now: number;
let noted: string[];
/** The holder, of which the cache knows nothing yet. */
let isGone: boolean;

beforeEach(() => {
  secrets = new Map();
  patches = 0;
  conflicts = 0;
  [isForbidden, isDenied, isIgnored, isGone] = [false, false, false, false];
  warnings = [];
  [others, lists] = [[holder({}, 'another')], 0];
  give('key', [foreign]);
  give('other', [own, foreign]);
  const log: Log = { ...silentLog, warn: (...line) => void warnings.push(line as (typeof warnings)[number]) };
  [now, noted] = [0, []];
  const monotonic = { now: () => now } as never;
  held = new HeldSecrets({ client: client as unknown as KubeClient, type, log, monotonic, random: () => 0 });
});

test('a Secret is held beside others who hold it, and let go of by those who do', async () => {
  await held.hold(current(holder()), secret('key'));
  expect(finalizersOf('key')).toEqual([foreign, own]);
  expect(noted).toEqual([own]);
  await held.letGo(holder(recording('key')));
  expect(finalizersOf('key')).toEqual([foreign]);
});

test('a Secret whose finalizer is taken off is held again, and ever later where that is done again and again', async () => {
  const hold = () => held.hold(current(holder(recording('key'))), secret('key'));
  let times = 0;
  for (let waitMs: number | undefined; waitMs === undefined; times += 1) {
    give('key', []);
    waitMs = await hold();
  }
  expect(times).toBeGreaterThan(5);
  expect(times).toBeLessThan(20);
  const before = patches;
  const waitMs = (await hold()) ?? 0;
  expect(patches).toBe(before);
  now += waitMs;
  expect(await hold()).toBeUndefined();
  expect(finalizersOf('key')).toEqual([own]);
});

test('who lets go of it as the last is not told that it could not be done', async () => {
  give('key', [own]);
  await held.letGo(holder(recording('key')));
  expect([finalizersOf('key'), warnings]).toEqual([undefined, []]);
});

test('of a Secret that was restored, or copied, those who are not there let go when somebody who is there holds it', async () => {
  others = [];
  await held.hold(current(holder()), secret('key'));
  expect(finalizersOf('key')).toEqual([own]);
});

test('and when he lets go of one that he could not hold', async () => {
  others = [];
  give('key', [foreign, 'example.com/other']);
  await held.letGo(holder(recording('key')));
  expect(finalizersOf('key')).toEqual(['example.com/other']);
});

test('who is there is asked for only where another one holds it', async () => {
  give('key', ['example.com/other']);
  await held.hold(current(holder()), secret('key'));
  await held.letGo(holder(recording('key')));
  expect([lists, patches]).toEqual([0, 2]);
});

test('one that may not be held, nor let go of later, is told of once for each', async () => {
  isForbidden = true;
  for (const _ of [1, 2]) await held.hold(current(holder()), secret('key'));
  await held.letGo(holder(recording('other')));
  expect(warnings).toEqual([
    [expect.stringMatching(/^may not hold a Secret/), expect.objectContaining({ secret: 'key' })],
    [
      expect.stringMatching(/^may not let go of a Secret: .*taken off by hand$/),
      expect.objectContaining({ namespace: 'ns', holder: 'a', secret: 'other', finalizer: own }),
    ],
  ]);
});

test.each([
  ['denies', 'policy denied it'],
  ['undoes', 'did not keep the change'],
])('what an admission policy %s is told of once for each, and its holder can go', async (how, why) => {
  [isDenied, isIgnored] = [how === 'denies', how === 'undoes'];
  for (const _ of [1, 2]) await held.hold(current(holder()), secret('key'));
  await held.letGo(holder(recording('other')));
  expect(warnings).toEqual([
    [expect.stringMatching(/^may not hold a Secret/), expect.objectContaining({ error: expect.stringContaining(why) })],
    [expect.stringMatching(/^may not let go/), expect.objectContaining({ error: expect.stringContaining(why) })],
  ]);
});

test('one without a usable key is not held', async () => {
  await held.hold(current(holder()), secret('key', false));
  expect([finalizersOf('key'), patches]).toEqual([[foreign], 0]);
});

test('the one of before is held until there is another that can be used', async () => {
  const renamed = current(holder(recording('other')));
  await held.hold(renamed, secret('absent', false));
  await held.hold(renamed, secret('key', false));
  expect([finalizersOf('other'), finalizersOf('key')]).toEqual([[own, foreign], [foreign]]);
  await held.hold(renamed, secret('key'));
  expect([finalizersOf('other'), finalizersOf('key')]).toEqual([[foreign], [foreign, own]]);
});

test('a forged record lets go of nothing that another holds', async () => {
  await held.hold(current(holder(recording('other'))), secret('key'));
  expect(finalizersOf('other')).toEqual([foreign]);
});

test('a record of another resource counts for nothing', async () => {
  await held.letGo(holder({ ...recording('other'), [annotation.recordOf]: 'another' }));
  expect(finalizersOf('other')).toEqual([own, foreign]);
});

test('a Secret that came after the one that was seen going is not let go of', async () => {
  const seen = { name: 'other', namespace: 'ns', uid: 'gone', finalizers: [own], deletionTimestamp: 'then' };
  const going = { ...secret('other'), metadata: seen };
  await held.hold(current(holder()), going);
  expect(finalizersOf('other')).toEqual([own, foreign]);
  await held.hold(current(holder()), { ...going, metadata: { ...seen, uid: 'other' } });
  expect(finalizersOf('other')).toEqual([foreign]);
});

test('a write that came too late is made again', async () => {
  conflicts = 2;
  await held.hold(current(holder()), secret('key'));
  expect([finalizersOf('key'), patches]).toEqual([[foreign, own], 3]);
});

test('one that always comes too late is left to the next reconcile', async () => {
  conflicts = Number.POSITIVE_INFINITY;
  await expect(held.hold(current(holder()), secret('key'))).rejects.toThrow('has been modified');
  expect(patches).toBe(4);
});

test('nothing is held for what has gone, which nobody would let go', async () => {
  isGone = true;
  await expect(held.hold(current(holder()), secret('key'))).rejects.toThrow('it has gone');
  expect(finalizersOf('key')).toEqual([foreign]);
});
