import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { conditionOf, type ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import type { TestCloud } from '../../support/cloud-api.ts';
import { inSetting } from '../../support/setting.ts';
import { until } from '../../support/until.ts';
import { startWorld, type World } from '../../support/world.ts';

/*
 * Everything that can go wrong with an answer, at every call of an object's life: the condition says what, nothing is
 * duplicated, and all is well again when the fault is gone. Each fault has its own cloud, operator and namespace; all
 * of them run side by side.
 */

interface Fault {
  readonly name: string;
  /** As the reference cloud takes it, after method and path. */
  readonly what: string;
  readonly reason: string;
  /** The reason where the call is an update of something that may have vanished. */
  readonly onUpdate?: string;
  readonly stalled: boolean;
  readonly onRemove?: string;
  /** A DELETE has nothing to complain of: the resource goes at once. */
  readonly deletes?: true;
}

const faults: readonly Fault[] = [
  // What takes longest is first.
  { name: 'a timeout', what: 'hang', reason: 'Unreachable', stalled: false },
  { name: '401', what: 'status=401', reason: 'Unauthorized', stalled: true },
  { name: '403', what: 'status=403', reason: 'Unauthorized', stalled: true },
  {
    name: '404',
    what: 'status=404',
    reason: 'Unreachable',
    onUpdate: 'ExternalNotFound',
    onRemove: 'Deleting',
    stalled: false,
  },
  { name: '409', what: 'status=409', reason: 'Conflict', stalled: false },
  { name: '429 with Retry-After', what: 'status=429 retry-after=1', reason: 'RateLimited', stalled: false },
  { name: '500', what: 'status=500', reason: 'Unreachable', stalled: false },
  { name: 'a reset', what: 'reset', reason: 'Unreachable', stalled: false },
  { name: 'a lost answer', what: 'drop', reason: 'Unreachable', stalled: false },
  { name: 'HTML instead of JSON', what: 'html', reason: 'Unreachable', stalled: false },
  { name: 'a wrong type in a field', what: 'malformed', reason: 'Unreachable', stalled: false, deletes: true },
];

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test.concurrent.each(faults)(
  '$name: told, survived, nothing duplicated',
  async (fault) => {
    const { create, update, remove, left, leaked } = await live(fault);
    const { reason, onUpdate, onRemove = reason, stalled, deletes } = fault;
    for (const [phase, expected] of [
      [create, reason],
      [update, onUpdate ?? reason],
    ] as const) {
      expect(phase.reason).toBe(expected);
      expect(phase).toMatchObject({ ready: 'False', stalled, reconciling: !stalled });
      expect(phase.message).not.toContain(world.cloud.apiKey);
    }
    expect(leaked).toBe(false);
    expect(remove?.reason).toBe(deletes ? undefined : onRemove);
    // A 404 to a DELETE is one witness: a list says otherwise.
    expect(left).toEqual(['added', 'changed']);
  },
  90_000,
);

test.concurrent('a long pause after a 429 is told to whatever has something to do, and nothing is sent meanwhile', () =>
  inSetting(world, async ({ namespace, cloud, start }) => {
    start();
    cloud.fault('POST /reserved_addrs status=429 retry-after=600');
    await world.reason(await world.apply('ReservedAddr', namespace, 'a', { description: 'one' }), 'RateLimited');
    const bot = await world.reason(await world.apply('BotUser', namespace, 'b', { name: 'b' }), 'RateLimited');
    expect(conditionOf(bot, 'Ready')?.message).toMatch(/not sent, .* asked for a pause/);
    expect(conditionOf(bot, 'Reconciling')?.status).toBe('True');
    expect(cloud.requests()).toHaveLength(1);
  }));

test.concurrent(
  'hundreds of checks that fail together do not each find out for themselves',
  () =>
    inSetting(world, async ({ namespace, cloud, start }) => {
      const operator = start('--requests-per-minute', '10000', '--resync-interval', '1s');
      const names = Array.from({ length: 60 }, (_, index) => `b${index}`);
      await Promise.all(names.map((name) => world.apply('BotUser', namespace, name, { name })));
      const all = async (reason: string) =>
        (await world.list('BotUser', namespace)).every((bot) => conditionOf(bot, 'Ready')?.reason === reason);
      await until('all to be Ready', () => all('Available'), 30_000);
      cloud.clearRequests();
      cloud.fault('* /** status=500');
      await until('all to be told', () => all('Unreachable'));
      const retries = /workqueue_retries_total\{name="botuser",controller="botuser"\} (\d+)/;
      const tries = async () => Number(retries.exec(await operator.metrics())?.[1]);
      await until('each to have tried three times', async () => (await tries()) >= 3 * names.length, 30_000);
      expect(cloud.requests().length).toBeLessThan(20);
      cloud.clearFaults();
      await until('all to be Ready again', () => all('Available'), 30_000);
    }),
  90_000,
);

interface Phase {
  readonly ready: string | undefined;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly stalled: boolean;
  readonly reconciling: boolean;
}

interface Life {
  readonly create: Phase;
  readonly update: Phase;
  /** Absent where the resource went at once. */
  readonly remove: Phase | undefined;
  /** Descriptions of what is in the cloud at the end. */
  readonly left: readonly string[];
  /** The API key got into the log or the metrics. */
  readonly leaked: boolean;
}

/** Three resources meet the fault at once: one that is to be created, one that was changed, one that is deleted. */
function live({ what }: Fault): Promise<Life> {
  return inSetting(world, async ({ namespace, cloud, start }) => {
    const operator = start('--requests-per-minute', '10000');
    const apply = (name: string, description = name) => world.apply('ReservedAddr', namespace, name, { description });
    const before = await Promise.all([apply('changed', 'as it was'), apply('removed')]);
    const [changed, removed] = before;
    for (const object of before) await world.reason(object, 'Available', 60_000);

    for (const call of ['POST /reserved_addrs', 'PATCH /reserved_addrs/*', 'DELETE /reserved_addrs/*'])
      cloud.fault(`${call} ${what}`);
    const [added] = await Promise.all([apply('added'), apply('changed'), world.delete(removed)]);
    const [create, update, remove] = await Promise.all([failed(added), failed(changed), failedOrGone(removed)]);
    cloud.clearFaults();
    // As a person who has mended it: what was forbidden is tried again after a minute, later two.
    const ask = (object: ManagedObject) => world.annotate(object, { 'edge-operator.dev/reconcile-at': 'mended' });
    await Promise.all([added, changed].map(ask));
    await Promise.all([added, changed].map((object) => world.reason(object, 'Available', 60_000)));
    await world.gone(removed, 60_000);
    const leaked = [operator.logs(), await operator.metrics()].some((text) => text.includes(cloud.apiKey));
    return { create, update, remove, left: await descriptionsIn(cloud), leaked };
  });
}

/** The first failure that the status tells of. */
const failed = (object: ManagedObject): Promise<Phase> =>
  until('the condition to tell of the fault', async () => phaseOf(await world.get(object)), 60_000);

const failedOrGone = (object: ManagedObject): Promise<Phase | undefined> =>
  until(
    'the condition to tell of the fault',
    async () => {
      const found = await world.get(object);
      const phase = phaseOf(found);
      return (found === undefined || phase !== undefined) && { phase };
    },
    60_000,
  ).then(({ phase }) => phase);

function phaseOf(object: ManagedObject | undefined): Phase | undefined {
  const ready = object && conditionOf(object, 'Ready');
  if (object === undefined || ready?.status !== 'False') return undefined;
  if (ready.observedGeneration !== object.metadata.generation) return undefined;
  // Between a failure and its repetition: a look for what an unanswered create made; a delete before its first answer.
  const { reason, message, status } = ready;
  if (reason === 'Creating' || (reason === 'Deleting' && !message.includes('looking again'))) return undefined;
  const has = (type: string) => conditionOf(object, type)?.status === 'True';
  return { ready: status, reason, message, stalled: has('Stalled'), reconciling: has('Reconciling') };
}

async function descriptionsIn(cloud: TestCloud): Promise<readonly string[]> {
  const { body } = await cloud.call('GET', '/reserved_addrs');
  return body.reserved_addrs.map(({ description }: { description: string }) => description).sort();
}
