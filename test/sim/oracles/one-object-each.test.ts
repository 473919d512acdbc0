import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Act, mainKey, secondKey } from '../core/story.ts';
import { oneObjectEach } from './one-object-each.ts';
import { available, FakeWorld, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

const externalID = 'edge-operator.dev/external-id';
const createdID = 'edge-operator.dev/created-id';
const keyMark = 'edge-operator.dev/key-mark';
const path = '/edges/https/edghts_a/routes/edghtsrt_a/compression';
const parent = { edgeID: 'edghts_a', routeID: 'edghtsrt_a' };

const withoutKubernetes: Act = {
  ...{ at: 5_000, do: 'trouble', name: 'refused-connections', forMs: 60_000 },
  with: { to: 'kube', probability: 1 },
};

let world: FakeWorld;
let judge: ReturnType<FakeWorld['judge']>;

beforeEach(() => {
  world = new FakeWorld();
  judge = world.judge(oneObjectEach);
});

/** From 5 s on the service denies what was there before. */
function beginDenied(forMs = 60_000, story: ConstructorParameters<typeof FakeWorld>[0] = {}) {
  const denial: Act = { at: 5_000, do: 'trouble', name: 'empty-account', forMs, with: { key: mainKey } };
  world = new FakeWorld({ ...story, acts: [denial] });
  judge = world.judge(oneObjectEach);
}

async function spoke() {
  await judge.atRest?.();
  return world.said.map((line) => line.replace('one-object-each: ', ''));
}

/** Deleted, and let go by the operator. */
async function end(name: string, by: string | null = operator, kind = 'BotUser') {
  await world.write(kind, name, { deleting: true });
  await world.remove(kind, name, by === null ? {} : { by });
}

describe('objects', () => {
  test('one each, and none of what is gone', async () => {
    await madeBotUser(world, 'one');
    const id = await madeBotUser(world, 'two');
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    await end('two');
    await world.make('bot_users', { name: 'a person’s' }, { by: 'person' });
    expect(await spoke()).toEqual([]);
  });

  test('two of one resource (O2, O6, O7)', async () => {
    const first = await madeBotUser(world);
    const second = await madeBotUser(world);
    expect(await spoke()).toEqual([`BotUser a/bot has ${second}, and besides ${first} in cloud/main`]);
  });

  test.each([
    ['cloud', secondKey, 'cloud/second'],
    ['other-cloud', mainKey, 'other-cloud/main'],
  ])(
    'one in another account, after a while with a wrong address or key (O3, K1): %s',
    async (service, key, account) => {
      await madeBotUser(world);
      await madeBotUser(world, 'bot', { service, key });
      await madeBotUser(world);
      expect(await spoke()).toEqual([
        expect.stringMatching(new RegExp(`besides bot_0+1 in cloud/main, bot_0+2 in ${account}`)),
      ]);
    },
  );

  test.each([
    ['by an installation that cannot see its maker', 'b', 'two-0.0', 0],
    ['by one that sees both', 'a,b', 'two-0.0', 1],
    ['by the one that made it', 'b', operator, 1],
  ])('one of two resources, taken by its id: %s', async (_, watchNamespaces, by, times) => {
    world = new FakeWorld({ installations: [{ name: 'op' }, { name: 'two', settings: { watchNamespaces } }] });
    judge = world.judge(oneObjectEach);
    const id = await madeBotUser(world);
    const status = available(1, { id, ownership: { id, how: 'Imported' } });
    await world.write('BotUser', 'taker', { namespace: 'b', annotations: { [externalID]: id } });
    await world.write('BotUser', 'taker', { namespace: 'b', status, by });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['a lone one', 0, 0],
    ['one of two', 1, 1],
  ])('%s, made in another account by a process that never had the first', async (_, others, times) => {
    for (let n = 0; n < others; n += 1) await madeBotUser(world, 'other');
    const first = await madeBotUser(world);
    await world.pass(1_000);
    world.begin('op-0.1', {}, secondKey);
    await madeBotUser(world, 'bot', { key: secondKey, by: 'op-0.1' });
    world.begin('op-0.2');
    await world.write('BotUser', 'bot', { status: available(1, { id: first }), by: 'op-0.2' });
    await world.pass(60_000);
    const said = await spoke();
    expect(said.filter((line) => line.includes('in cloud/second'))).toHaveLength(times);
  });

  test.each([
    ['may be there, made with a key that is not in force any more', secondKey, 0],
    ['is to be there no longer, made with the one that is', mainKey, 1],
  ])('one of lost twins, of which the other took the one that was made for it: it %s', async (_, now, times) => {
    world.begin('op-0.1', {}, mainKey);
    const [taker, other] = [{ key: mainKey, by: 'op-0.1', arrives: false }, { name: 'twin' }] as const;
    await world.write('BotUser', 'taker', { spec: other });
    await world.make('bot_users', { name: 'twin', active: true }, taker);
    await world.pass(1_000);
    await world.write('BotUser', 'other', { spec: other });
    const id = await world.make('bot_users', { name: 'twin', active: true }, taker);
    await world.write('BotUser', 'taker', { annotations: { [externalID]: id, [createdID]: id }, by: 'op-0.1' });
    world.begin('op-0.2', {}, now);
    await madeBotUser(world, 'taker', { spec: other, key: now, by: 'op-0.2' });
    await madeBotUser(world, 'other', { spec: other, key: now, by: 'op-0.2' });
    const said = await spoke();
    expect(said.filter((line) => line.includes('nobody has'))).toHaveLength(times);
  });

  test('one whose answer was lost, and which nobody looked for', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.make('bot_users', { name: 'bot', active: true }, { arrives: false });
    expect(await spoke()).toEqual([
      expect.stringMatching(/nobody has bot_0+1 in cloud\/main; made by op-0.0 for BotUser a\/bot/),
    ]);
  });

  test.each([
    ['of which nothing was told', 130_000, undefined, 1],
    [
      'that was told of by its id',
      130_000,
      (id: string) => `item ${id} of the list, which cannot be read, may be the`,
      0,
    ],
    ['of which another was told', 130_000, () => 'item bot_other of the list, which cannot be read, may be the', 1],
    ['that was told of without an id', 130_000, () => 'an item without an id of the list may be the', 0],
    ['that was told of too soon', 110_000, () => 'an item without an id of the list may be the', 1],
  ] as const)('one whose answer was lost and whose resource went, %s', async (_, keptMs, told, times) => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    const id = await world.make('bot_users', { name: 'bot', active: true }, { arrives: false });
    await world.write('BotUser', 'bot', { deleting: true });
    await world.pass(keptMs);
    if (told !== undefined) {
      const fields = { event: 'Orphaned', kind: 'BotUser', namespace: 'a', name: 'bot' };
      const message = `${told(id)} bot user of an unanswered create`;
      world.logs.push({ at: world.scheduler.now, process: operator, level: 'warn', message, fields });
    }
    await world.remove('BotUser', 'bot', { by: operator });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['which was told of', true, (id: string) => id, 0],
    ['of which another was told', true, () => 'bot_other', 1],
    ['which was told of, with nothing that denied it', false, (id: string) => id, 1],
  ] as const)('one that was denied while its create was looked for, %s', async (_, isDenied, told, times) => {
    const acts: Act[] = isDenied ? [{ at: 0, do: 'trouble', name: 'empty-account', forMs: 60_000 }] : [];
    world = new FakeWorld({ acts });
    judge = world.judge(oneObjectEach);
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    const lost = await world.make('bot_users', { name: 'bot', active: true }, { arrives: false });
    await madeBotUser(world);
    const fields = { event: 'Orphaned', kind: 'BotUser', namespace: 'a', name: 'bot' };
    const message = `bot user ${told(lost)} is held by no resource: an earlier create of this one may have made it`;
    await world.write('BotUser', 'bot', { status: unready(1, 'Creating', 'Reconciling'), by: operator });
    world.logs.push({ at: world.scheduler.now, process: operator, level: 'warn', message, fields });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['in time', 20_000, 1],
    ['too late', 50_000, 0],
  ])('one that lists show %s', async (_, lagMs, times) => {
    world = new FakeWorld({ acts: [{ at: 0, do: 'trouble', name: 'lagging-lists', forMs: 120_000, with: { lagMs } }] });
    judge = world.judge(oneObjectEach);
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.pass(30_000);
    await world.make('bot_users', { name: 'bot', active: true }, { arrives: false, sentAt: 0 });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['without its metadata', { how: 'null', field: 'metadata' }, 120_000, 0],
    ['without its metadata, and in time as it is', { how: 'missing', field: 'metadata' }, 50_000, 1],
    ['without what every one has', { how: 'null', field: 'description' }, 120_000, 1],
    ['with what nobody knows', { how: 'extra' }, 120_000, 1],
  ])('one that lists show %s', async (_, odd, forMs, times) => {
    world = new FakeWorld({ acts: [{ at: 0, do: 'trouble', name: 'odd-items', forMs, with: odd }] });
    judge = world.judge(oneObjectEach);
    const body = { description: 'addr', metadata: 'm', region: 'us' };
    await world.write('ReservedAddr', 'addr', { spec: body });
    await world.make('reserved_addrs', body, { arrives: false });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['in time', 50_000, 1],
    ['too late', 70_000, 0],
  ])('one whose place an earlier one took that was made %s', async (_, actsAt, times) => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.pass(actsAt);
    const id = await world.make('bot_users', { name: 'bot', active: true }, { arrives: false, sentAt: 0 });
    await world.make('bot_users', { name: 'bot', active: true }, { arrives: false });
    await world.write('BotUser', 'bot', { annotations: { 'edge-operator.dev/external-id': id }, by: operator });
    expect(await spoke()).toHaveLength(times);
  });

  test('one that its resource left when it went', async () => {
    await madeBotUser(world);
    await end('bot');
    expect(await spoke()).toEqual([expect.stringMatching(/nobody has bot_0+1/)]);
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ['Retain', () => world.write('BotUser', 'bot', { spec: { name: 'bot', deletionPolicy: 'Retain' } })],
    ['Observe', () => world.write('BotUser', 'bot', { spec: { name: 'bot', managementPolicy: 'Observe' } })],
    [
      'let go by force',
      () => world.write('BotUser', 'bot', { annotations: { 'edge-operator.dev/force-orphan': 'true' } }),
    ],
    ['its finalizer taken by a person', () => world.write('BotUser', 'bot', { finalizers: [] })],
    [
      'every trace of it wiped by a person',
      async () => {
        await world.write('BotUser', 'bot', { annotations: { [externalID]: null, [createdID]: null } });
        await world.write('BotUser', 'bot', { status: {} });
      },
    ],
  ])('one that was left on purpose: %s', async (_, how) => {
    await how(await madeBotUser(world));
    await end('bot');
    expect(await spoke()).toEqual([]);
  });

  test.each([
    ['annotations', 60_000, 0],
    ['annotations', 1_000, 1],
    ['finalizers', 60_000, 1],
  ])(
    'one whose status a person wiped, while a policy may have stripped its %s, for %i ms',
    async (part, forMs, times) => {
      world = new FakeWorld({ acts: [{ at: 0, do: 'trouble', name: 'kube-strips', forMs, with: { part } }] });
      judge = world.judge(oneObjectEach);
      await madeBotUser(world);
      await world.pass(10_000);
      await world.write('BotUser', 'bot', { status: {} });
      await madeBotUser(world);
      expect(await spoke()).toHaveLength(times);
    },
  );

  const createIntent = 'edge-operator.dev/create-intent';

  describe.each([
    ['its id', (id: string) => ({ [externalID]: id, [createdID]: id })],
    ['the mark of its create', () => ({ [createIntent]: '{}' })],
  ])('one that no status told of yet, when every annotation, %s too, was wiped', (_, recorded) => {
    async function wipe(meanwhile = async () => {}) {
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      const id = await world.make('bot_users', { name: 'bot', active: true });
      await world.write('BotUser', 'bot', { annotations: recorded(id), by: operator });
      await world.pass(20_000);
      await meanwhile();
      await world.write('BotUser', 'bot', {
        annotations: { [externalID]: null, [createdID]: null, [createIntent]: null },
      });
      await madeBotUser(world);
      return { first: id };
    }

    test('while no operator was to run', async () => {
      world = new FakeWorld({ acts: [{ at: 10_000, do: 'stop', installation: 'op' }] });
      judge = world.judge(oneObjectEach);
      await wipe();
      expect(await spoke()).toEqual([]);
    });

    test.each([
      ['', []],
      [', when Kubernetes is away again', [withoutKubernetes]],
    ])('beside an operator, who has to put them back%s', async (_, acts) => {
      world = new FakeWorld({ acts });
      judge = world.judge(oneObjectEach);
      const { first } = await wipe();
      expect(await spoke()).toEqual([expect.stringContaining(first)]);
    });

    test('beside an operator that could not read yet what was there', async () => {
      world = new FakeWorld({ acts: [withoutKubernetes] });
      judge = world.judge(oneObjectEach);
      await world.pass(10_000);
      world.begin('op-0.1', {}, mainKey);
      await wipe();
      expect(await spoke()).toEqual([]);
    });

    test.each([
      ['had failed so far', 1_000, 0],
      ['had had the time', 6_000, 1],
    ])('beside an operator that %s to read what was there', async (_, readMs, times) => {
      world = new FakeWorld({ acts: [{ ...withoutKubernetes, name: 'kube-5xx', with: { probability: 0.3 } }] });
      judge = world.judge(oneObjectEach);
      await wipe(async () => {
        world.begin('op-0.1', {}, mainKey);
        await world.pass(readMs);
      });
      expect(await spoke()).toHaveLength(times);
    });
  });

  test.each([
    ['while no operator was to run', [{ at: 10_000, do: 'stop', installation: 'op' }] as const, 0],
    ['beside an operator', [], 1],
  ])('one that was sent late, when the mark of its create was wiped already, %s', async (_, acts, times) => {
    world = new FakeWorld({ acts });
    judge = world.judge(oneObjectEach);
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.write('BotUser', 'bot', { annotations: { [createIntent]: '{}' }, by: operator });
    await world.pass(20_000);
    await world.write('BotUser', 'bot', { annotations: { [createIntent]: null } });
    await world.pass(1_000);
    await world.make('bot_users', { name: 'bot', active: true });
    await madeBotUser(world);
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['while no operator was to run', [{ at: 10_000, do: 'stop', installation: 'op' }] as const, 0],
    ['beside an operator', [], 1],
  ])('one that was made when the mark of another, which is found, was wiped %s', async (_, acts, times) => {
    world = new FakeWorld({ acts });
    judge = world.judge(oneObjectEach);
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.write('BotUser', 'bot', { annotations: { [createIntent]: '{}' }, by: operator });
    const id = await world.make('bot_users', { name: 'bot', active: true });
    await world.pass(20_000);
    await world.write('BotUser', 'bot', { annotations: { [createIntent]: null } });
    await world.pass(1_000);
    await world.make('bot_users', { name: 'bot', active: true });
    const [annotations, status] = [{ [externalID]: id, [createdID]: id }, available(1, { id })];
    await world.write('BotUser', 'bot', { annotations, status, by: operator });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['another', 0],
    ['the same', 1],
  ])(
    'one that was being made when a person wiped the records, and %s installation took the resource',
    async (who, times) => {
      const manager = (name: string | null) => ({ annotations: { 'edge-operator.dev/installation': name } });
      await world.write('BotUser', 'bot', { spec: { name: 'bot' }, ...manager('one'), by: operator });
      await world.write('BotUser', 'bot', manager(null));
      await world.write('BotUser', 'bot', { ...manager(who === 'another' ? 'two' : 'one'), by: operator });
      await world.make('bot_users', { name: 'bot', active: true });
      expect(await spoke()).toHaveLength(times);
    },
  );

  test.each([
    ['a person is asked for', 'Unreachable', {}, true, 0],
    ['the taker looks for', 'Creating', {}, true, 1],
    ['nothing is on record of', 'Unreachable', { [createIntent]: null }, true, 1],
    ['was made before what is on record', 'Unreachable', {}, false, 1],
  ])('one whose resource another account took over, and that %s', async (_, reason, taken, isSince, times) => {
    world = new FakeWorld({ installations: [{ name: 'op' }, { name: 'other', apiKey: secondKey }] });
    judge = world.judge(oneObjectEach);
    const account = { 'edge-operator.dev/account': 'default', 'edge-operator.dev/api-url': 'http://cloud.sim' };
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    const make = () =>
      world.make('bot_users', { name: 'bot', active: true }, { by: 'other-0.0', key: secondKey, arrives: false });
    await world.pass(1_000);
    if (!isSince) await make();
    await world.pass(1_000);
    await world.write('BotUser', 'bot', { annotations: { [createIntent]: '{}', ...account }, by: 'other-0.0' });
    await world.pass(1_000);
    if (isSince) await make();
    const status = unready(1, reason, 'Reconciling');
    await world.write('BotUser', 'bot', { annotations: taken, status, by: operator });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['was wiped while that one was not there', true, true, 0],
    ['was wiped while that one was there', true, false, 1],
    ['is there', false, true, 1],
  ])(
    'one that another installation took over with another account, when the mark of its key %s',
    async (_, isWiped, isAway, times) => {
      const other = { installation: 'other' } as const;
      const away = { at: 10_000, do: 'stop', ...other } as const;
      world = new FakeWorld({
        installations: [{ name: 'op' }, { name: 'other', apiKey: secondKey }],
        acts: [{ at: 0, do: 'start', ...other }, ...(isAway ? [away] : [])],
      });
      judge = world.judge(oneObjectEach);
      await madeBotUser(world);
      await world.write('BotUser', 'bot', { annotations: { [keyMark]: 'abcd-12345678' }, by: operator });
      await world.pass(20_000);
      if (isWiped) await world.write('BotUser', 'bot', { annotations: { [keyMark]: null } });
      await world.pass(1_000);
      await madeBotUser(world, 'bot', { by: 'other-0.0', key: secondKey });
      expect(await spoke()).toHaveLength(times);
    },
  );

  test.each([
    ['alone', 0, 0, 0],
    ['with one other, which the same process made', 1, 0, 0],
    ['with two others', 2, 0, 1],
    ['with two others, of which a person wiped the status of one', 2, 1, 0],
    ['with three others, of which a person wiped the status of one', 3, 1, 1],
  ])('one that the service denied %s', async (_, others, wiped, times) => {
    beginDenied();
    for (let n = 0; n < others; n += 1) await madeBotUser(world, `other-${n}`);
    await madeBotUser(world);
    await world.pass(10_000);
    for (let n = 0; n < wiped; n += 1) await world.write('BotUser', `other-${n}`, { status: {} });
    await madeBotUser(world);
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['which both came from the process before', 'op-0.0', 'op-0.1', 1],
    ['of which the process made one that concludes it', 'op-0.1', 'op-0.1', 0],
    ['of which another process made one since', 'op-0.1', 'op-0.2', 1],
  ])('one that the service denied with one other, %s', async (_, maker, by, times) => {
    beginDenied();
    await madeBotUser(world);
    await madeBotUser(world, 'other', { by: maker });
    await world.pass(10_000);
    await madeBotUser(world, 'bot', { by });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['while that was concluded', 0, 0],
    ['only after that', 20_000, 1],
  ])('one that the service denied with two others, of which one went %s', async (_, laterMs, times) => {
    beginDenied();
    for (const name of ['one', 'other']) await madeBotUser(world, name);
    await madeBotUser(world);
    await world.pass(10_000);
    const leave = async () => {
      await world.write('BotUser', 'other', { spec: { name: 'other', deletionPolicy: 'Retain' } });
      await end('other');
      await world.pass(1_000);
    };
    if (laterMs === 0) await leave();
    await madeBotUser(world);
    await world.pass(laterMs);
    if (laterMs > 0) await leave();
    expect((await spoke()).filter((line) => line.includes('a/bot has'))).toHaveLength(times);
  });

  test.each([
    ['a person is asked by another one', (id: string) => id, 0],
    ['a person is asked of something else', () => 'bot_other', 1],
  ])('one that nobody has, and of which %s', async (_, named, times) => {
    const lost = await madeBotUser(world, 'one');
    await end('one');
    const message = `an unanswered create may have made any of ${named(lost)}: set the annotation`;
    const status = unready(1, 'AmbiguousCreate', 'Stalled');
    const conditions = status.conditions.map((each) => ({ ...each, message }));
    await world.write('BotUser', 'twin', { spec: { name: 'one' }, status: { ...status, conditions }, by: operator });
    expect((await spoke()).filter((line) => line.includes(lost))).toHaveLength(times);
  });

  test.each([
    ['while lists did not show it yet', 60_000, { form: 'api-error', calls: 'all' }, 0],
    ['when lists would show it', 5_000, { form: 'api-error', calls: 'all' }, 1],
    ['of which only changes go through it', 60_000, { form: 'api-error', calls: 'mutating' }, 1],
    ['in words of its own', 60_000, { form: 'html', calls: 'all' }, 1],
  ])('one that a gateway denied %s', async (_, lagMs, how, times) => {
    const acts: Act[] = [
      { at: 0, do: 'trouble', name: 'lagging-lists', forMs: 120_000, with: { lagMs } },
      { at: 0, do: 'trouble', name: 'gateway-404', forMs: 60_000, with: how },
    ];
    world = new FakeWorld({ acts });
    judge = world.judge(oneObjectEach);
    await madeBotUser(world);
    await world.pass(10_000);
    await madeBotUser(world);
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['whoever made it may not see', 'a', 0],
    ['it may see', 'a,b', 1],
  ])('one that the service denied with two others, which %s', async (_, watchNamespaces, times) => {
    const installations = [
      { name: 'op', settings: { watchNamespaces } },
      { name: 'two', settings: { watchNamespaces: 'b' } },
    ];
    beginDenied(60_000, { installations });
    for (const name of ['one', 'other']) await madeBotUser(world, name, { namespace: 'b', by: 'two-0.0' });
    await madeBotUser(world);
    await world.pass(10_000);
    await madeBotUser(world);
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['10 s after that began', 10_000, 0],
    ['long after that', 200_000, 1],
  ])('one that the service denied alone, and its resource forgot %s, for another', async (_, afterMs, times) => {
    beginDenied();
    const before = await world.make('bot_users', { name: 'bot', active: true }, { by: 'person' });
    await madeBotUser(world);
    await world.pass(5_000 + afterMs);
    await world.write('BotUser', 'bot', { annotations: { [createdID]: null, [externalID]: before }, by: operator });
    const status = available(1, { id: before, ownership: { id: before, how: 'Imported' } });
    await world.write('BotUser', 'bot', { status, by: operator });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['10 s after that began', 10_000, 0],
    ['long after that', 200_000, 1],
  ])('one that the service denied alone, forgotten %s and made anew much later', async (_, afterMs, times) => {
    beginDenied();
    await madeBotUser(world);
    await world.pass(5_000 + afterMs);
    await world.write('BotUser', 'bot', { annotations: { [createdID]: null, [externalID]: null }, by: operator });
    await world.pass(200_000);
    await madeBotUser(world);
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['another installation manages', 'edge-operator-two-679d1bcf', 0],
    ['its own manages', 'edge-operator-op-679d1bcf', 1],
  ])('one that the service denied with two others, which %s', async (_, manager, times) => {
    beginDenied();
    const manage = (name: string, by: string) =>
      world.write('BotUser', name, { annotations: { 'edge-operator.dev/installation': by }, by: operator });
    for (const name of ['one', 'other']) {
      await madeBotUser(world, name);
      await manage(name, manager);
    }
    await madeBotUser(world);
    await manage('bot', 'edge-operator-op-679d1bcf');
    await world.pass(10_000);
    await madeBotUser(world);
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['found by then', 0, 1],
    ['found only later', 30_000, 0],
  ])('one that the service denied with two others of lost creates, which were %s', async (_, laterMs, times) => {
    beginDenied();
    const lost = new Map<string, string>();
    for (const name of ['one', 'other']) {
      await world.write('BotUser', name, { spec: { name } });
      lost.set(name, await world.make('bot_users', { name, active: true }, { arrives: false }));
    }
    const find = async () => {
      for (const [name, id] of lost)
        await world.write('BotUser', name, {
          status: available(1, { id, ownership: { id, how: 'Created' } }),
          by: operator,
        });
    };
    await madeBotUser(world);
    if (laterMs === 0) await find();
    await world.pass(10_000);
    await madeBotUser(world);
    await world.pass(laterMs);
    if (laterMs > 0) await find();
    expect((await spoke()).filter((line) => line.startsWith('BotUser a/bot has'))).toHaveLength(times);
  });

  test.each([
    ['and told of', 130_000, (id: string) => id, 0],
    ['and not told of', 130_000, undefined, 1],
    ['while another was told of', 130_000, () => 'bot_other', 1],
    ['and told of too soon', 110_000, (id: string) => id, 1],
    ['and told of long after that', 400_000, (id: string) => id, 1],
  ] as const)(
    'one that the service denied with two others until its resource went, %s',
    async (_, keptMs, named, times) => {
      beginDenied(200_000);
      for (const name of ['one', 'other']) await madeBotUser(world, name);
      const id = await madeBotUser(world);
      await world.pass(10_000);
      await world.write('BotUser', 'bot', { deleting: true });
      await world.pass(keptMs);
      if (named !== undefined) {
        const fields = { event: 'Orphaned', kind: 'BotUser', namespace: 'a', name: 'bot' };
        const message = `bot user ${named(id)} is left behind: it cannot be known to be gone`;
        world.logs.push({ at: world.scheduler.now, process: operator, level: 'warn', message, fields });
      }
      await world.remove('BotUser', 'bot', { by: operator });
      expect(await spoke()).toHaveLength(times);
    },
  );

  test('one whose resource was let go by a person, finalizer and all', async () => {
    await madeBotUser(world);
    await end('bot', null);
    expect(await spoke()).toEqual([]);
  });

  test('one whose resource is not in the backup', async () => {
    const backup = world.backup();
    await madeBotUser(world);
    await world.restore(backup);
    expect(await spoke()).toEqual([]);
  });

  test.each([
    [1_000, 0],
    [50, 1],
  ])('one that was made when the backup was %i ms old, of a resource that another took away', async (forMs, times) => {
    world = new FakeWorld({ acts: [{ at: 100, do: 'trouble', name: 'kube-restored', forMs }] });
    judge = world.judge(oneObjectEach);
    const empty = world.backup();
    await world.pass(100);
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    const backup = world.backup();
    await world.pass(100);
    // No status has said so yet.
    const id = await world.make('bot_users', { name: 'bot', active: true });
    await world.write('BotUser', 'bot', { annotations: { [externalID]: id }, by: operator });
    await world.restore(empty);
    await world.restore(backup);
    await madeBotUser(world);
    expect(await spoke()).toHaveLength(times);
  });

  test('one of two that have the same', async () => {
    const id = await madeBotUser(world, 'one');
    await world.write('BotUser', 'two', { spec: { name: 'one' }, annotations: { [externalID]: id } });
    await world.write('BotUser', 'two', { status: available(1, { id }), by: operator });
    expect(await spoke()).toEqual([`BotUser a/one and BotUser a/two both have ${id}`]);
  });

  test.each([
    ['not see each other', 'b', 0],
    ['see each other', 'a,b', 1],
  ])('one of two, of installations that may %s', async (_, watchNamespaces, times) => {
    const settings = { watchNamespaces: 'a' };
    const installations = [
      { name: 'op', settings },
      { name: 'two', settings: { watchNamespaces } },
    ];
    world = new FakeWorld({ installations });
    judge = world.judge(oneObjectEach);
    const id = await madeBotUser(world);
    const [namespace, by] = ['b', 'two-0.0'];
    await world.write('BotUser', 'bot', { namespace, spec: { name: 'bot' }, annotations: { [externalID]: id } });
    await world.write('BotUser', 'bot', { namespace, status: available(1, { id }), by });
    expect(await spoke()).toHaveLength(times);
  });

  test('one that a resource lost to an id of a person’s (O4)', async () => {
    await madeBotUser(world);
    const foreign = await world.make('bot_users', { name: 'x' }, { by: 'person' });
    await world.write('BotUser', 'bot', { annotations: { [externalID]: foreign } });
    await world.write('BotUser', 'bot', { status: available(1, { id: foreign }), by: operator });
    expect(await spoke()).toEqual([expect.stringContaining(`BotUser a/bot has ${foreign}, and besides bot_`)]);
  });

  test('one of a resource whose Secret a person made that of another account', async () => {
    await world.data('Secret', 'key', { key: mainKey });
    await world.write('CloudAccount', 'acct', { spec: { apiKeySecretRef: { name: 'key', key: 'key' } } });
    await madeBotUser(world, 'bot', { spec: { name: 'bot', accountRef: { name: 'acct' } } });
    await world.pass(10);
    await world.data('Secret', 'key', { key: secondKey });
    await world.pass(10);
    await end('bot');
    expect(await spoke()).toEqual([]);
  });
});

describe('modules', () => {
  const put = (by = operator) => world.call({ method: 'PUT', path, body: { enabled: true }, by });

  test('belong to whoever names them, and go with it', async () => {
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
    await put();
    expect(await spoke()).toEqual([]);
    await world.call({ method: 'DELETE', path });
    await end('r', operator, 'HttpsRouteModules');
    expect(await spoke()).toEqual([]);
  });

  test.each([
    ['late', 50_000, 1],
    ['too late', 70_000, 0],
  ])('put %s come back when they were removed', async (_, ms, times) => {
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
    await put();
    await world.call({ method: 'DELETE', path });
    await end('r', operator, 'HttpsRouteModules');
    await world.pass(ms);
    await world.call({ method: 'PUT', path, body: { enabled: true }, sentAt: 0 });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['in the service’s own form', 'api-error', 0, [], 0],
    ['in another form', 'json', 0, [], 1],
    ['so long ago', 'api-error', 180_000, [], 1],
    ['so long ago, and that was said', 'api-error', 180_000, ['Deleted'], 0],
    ['so long ago, and something else was said', 'api-error', 180_000, ['Updated'], 1],
  ])('are left behind where a gateway denied them %s', async (_, form, laterMs, events, times) => {
    world = new FakeWorld({ acts: [{ at: 0, do: 'trouble', name: 'gateway-404', forMs: 60_000, with: { form } }] });
    judge = world.judge(oneObjectEach);
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
    await put();
    await world.write('HttpsRouteModules', 'r', { deleting: true });
    for (const event of events) {
      const fields = { event, kind: 'HttpsRouteModules', namespace: 'a', name: 'r' };
      world.logs.push({ at: world.scheduler.now, process: operator, level: 'info', message: 'gone already', fields });
    }
    await world.pass(laterMs);
    await end('r', operator, 'HttpsRouteModules');
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['none that its status proves', {}, { parts: ['compression'] }, 0],
    ['none that either proves', {}, {}, 1],
    ['its own, as its status proves', { parts: ['compression'] }, { parts: ['compression'] }, 1],
  ])('are left to who proves to have the same, by a resource that had %s', async (_, own, others, times) => {
    const spec = { ...parent, compression: {} };
    for (const [name, more] of Object.entries({ r: own, other: others })) {
      const status = available(1, { ownership: { how: 'Applied', ...more } });
      await world.write('HttpsRouteModules', name, { spec, status, by: operator });
    }
    await put();
    await end('r', operator, 'HttpsRouteModules');
    await world.pass(1_000);
    await end('other', operator, 'HttpsRouteModules');
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['status and annotations', true, undefined, 0],
    ['both, of one that could not look meanwhile', true, {}, 0],
    ['both, of one that had it again meanwhile', true, { parts: ['compression'] }, 1],
    ['annotations alone', false, undefined, 1],
    ['annotations alone, of one that gave it up', false, {}, 1],
  ])('are left behind where a person wiped %s of what names them no more', async (_, isWiped, rewritten, times) => {
    const appliedParts = 'edge-operator.dev/applied-parts';
    const ownership = { how: 'Applied', parts: ['compression'] };
    const route = { spec: { ...parent, compression: {} }, annotations: { [appliedParts]: 'compression' } };
    await world.write('HttpsRouteModules', 'r', { ...route, status: available(1, { ownership }), by: operator });
    await put();
    await world.pass(10);
    if (isWiped) await world.write('HttpsRouteModules', 'r', { status: available(1, { ownership: {} }) });
    await world.pass(10);
    const status = unready(1, 'Unreachable', 'Reconciling', { ownership: { how: 'Applied', ...rewritten } });
    if (rewritten !== undefined) await world.write('HttpsRouteModules', 'r', { status, by: operator });
    await world.pass(10);
    await world.write('HttpsRouteModules', 'r', { spec: parent, annotations: { [appliedParts]: null } });
    await world.pass(10);
    await world.write('HttpsRouteModules', 'r', { annotations: { x: 'y' }, by: operator });
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['while nobody is to run', 10_000_000, true, [], 0],
    ['all that there was, while nobody is to run', 10_000_000, true, ['account'], 1],
    ['with a process that has not written to it', 10_000, false, [], 0],
    ['with one that has known it for long', 400_000, false, [], 1],
  ])('are left behind where a person set back what is on record, %s', async (_, ms, isStopped, wiped, times) => {
    const stops: Act[] = isStopped ? [{ at: 20, do: 'stop', installation: 'op' }] : [];
    world = new FakeWorld({ acts: stops });
    judge = world.judge(oneObjectEach);
    const status = available(1, { ownership: { how: 'Applied', parts: ['compression', 'saml'] } });
    const records = (applied: string) => ({
      'edge-operator.dev/applied-parts': applied,
      'edge-operator.dev/account': 'default',
    });
    const route = { spec: { ...parent, compression: {} }, annotations: records('compression,saml'), status };
    await world.write('HttpsRouteModules', 'r', { ...route, by: operator });
    await put();
    await world.pass(1_000);
    if (!isStopped) world.begin('op-0.1');
    await world.pass(ms);
    const lost = Object.fromEntries(wiped.map((name) => [`edge-operator.dev/${name}`, null]));
    await world.write('HttpsRouteModules', 'r', { spec: parent, annotations: { ...records('saml'), ...lost } });
    await world.pass(400_000);
    expect(await spoke()).toHaveLength(times);
  });

  const otherService = { apiUrl: 'http://other-cloud.sim' };

  test('put with a wrong key are out of reach, also right after a time with a wrong address', async () => {
    world.begin('op-0.1', {}, secondKey);
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
    await world.call({ method: 'PUT', path, body: { enabled: true }, key: secondKey });
    await world.pass(60_000);
    world.begin('op-0.2', otherService);
    await world.pass(60_000);
    world.begin('op-0.3');
    await end('r', operator, 'HttpsRouteModules');
    expect(await spoke()).toEqual([]);
  });

  test('are left behind where it is let go at another service', async () => {
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
    await put();
    await world.pass(60_000);
    world.begin('op-0.1', otherService);
    await world.pass(60_000);
    await end('r', operator, 'HttpsRouteModules');
    expect(await spoke()).toEqual([expect.stringContaining(`nobody has ${path} in cloud/main`)]);
  });

  describe('whose part left the spec after a while with a wrong key', () => {
    const appliedParts = 'edge-operator.dev/applied-parts';

    beforeEach(async () => {
      const status = available(1, { ownership: { how: 'Applied', parts: ['compression', 'saml'] } });
      await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
      await world.write('HttpsRouteModules', 'r', {
        annotations: { [appliedParts]: 'compression,saml' },
        by: operator,
      });
      await world.write('HttpsRouteModules', 'r', { status, by: operator });
      await put();
      await world.pass(60_000);
      world.begin('op-0.1', {}, secondKey);
      await world.pass(60_000);
    });

    async function drop() {
      const status = available(1, { ownership: { how: 'Applied', parts: ['saml'] } });
      await world.write('HttpsRouteModules', 'r', { spec: parent });
      await world.write('HttpsRouteModules', 'r', { annotations: { [appliedParts]: 'saml' }, by: operator });
      await world.write('HttpsRouteModules', 'r', { status, by: operator });
    }

    test('are out of reach while that key is in force', async () => {
      await drop();
      await world.pass(60_000);
      world.begin('op-0.2');
      expect(await spoke()).toEqual([]);
    });

    test('are out of reach also when the rest went later', async () => {
      await drop();
      await world.pass(60_000);
      world.begin('op-0.2');
      await world.pass(60_000);
      await end('r', operator, 'HttpsRouteModules');
      expect(await spoke()).toEqual([]);
    });

    test('are out of reach also when a restored backup named them meanwhile, and another did not', async () => {
      const before = world.backup();
      await drop();
      const after = world.backup();
      world.begin('op-0.2');
      await world.pass(60_000);
      await world.restore(before);
      await world.pass(10_000);
      await world.restore(after);
      await world.pass(10_000);
      expect(await spoke()).toEqual([]);
    });

    test('are left behind when the right key was back', async () => {
      world.begin('op-0.2');
      await world.pass(60_000);
      await drop();
      expect(await spoke()).toEqual([expect.stringContaining(`nobody has ${path} in cloud/main`)]);
    });
  });

  test('of people are left alone', async () => {
    await put('person');
    expect(await spoke()).toEqual([]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['when its resource went', () => end('r', operator, 'HttpsRouteModules')],
    ['when its part left the spec', () => world.write('HttpsRouteModules', 'r', { spec: parent })],
  ])('are left behind %s', async (_, how) => {
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
    await put();
    await world.pass(10);
    await how();
    expect(await spoke()).toEqual([expect.stringContaining(`nobody has ${path} in cloud/main; made by op-0.0`)]);
  });
});
