import { beforeEach, describe, expect, test } from '@jest/globals';
import { mainKey, secondKey } from '../core/story.ts';
import { ConvergingWorld } from './converges.fixture.ts';
import { available, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

const externalID = 'edge-operator.dev/external-id';

let world: ConvergingWorld;

function begin(story: ConstructorParameters<typeof ConvergingWorld>[0] = {}) {
  world = new ConvergingWorld(story);
}

beforeEach(() => begin());

const spoke = () => world.spoke();
const say: ConvergingWorld['say'] = (...what) => world.say(...what);

describe('Unreachable, of what is gone together', () => {
  let ids: readonly [string, string];
  beforeEach(async () => {
    const imported = await world.make('bot_users', { name: 'import' }, { by: 'person' });
    await world.write('BotUser', 'import', { spec: { name: 'import' }, annotations: { [externalID]: imported } });
    const ownership = { id: imported, how: 'Imported' };
    await world.write('BotUser', 'import', { status: available(1, { id: imported, ownership }), by: operator });
    ids = [await madeBotUser(world), imported];
  });

  const vanish = (id: string) => world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'person' });

  test('is true, also where one was imported', async () => {
    for (const id of ids) await vanish(id);
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    const fields = { ownership: { id: ids[1], how: 'Imported' } };
    const status = unready(1, 'ExternalNotFound', 'Stalled', fields);
    await world.write('BotUser', 'import', { status, by: operator });
    expect(await spoke()).toEqual([]);
  });

  test.each([
    ['is not true beside more that was on record before the process began', true, 'op', 1],
    ['is true beside what was put on record since', false, 'op', 0],
    ['is true beside more that another installation manages', true, 'two', 0],
  ])('%s', async (_, isRecorded, manager, times) => {
    const makes = (name: string) => world.make('bot_users', { name, active: true });
    const records = async (name: string, id: string) => {
      const installation = `edge-operator-${manager}-00000000`;
      const status = available(1, { id, ownership: { id, how: 'Created', installation } });
      await world.write('BotUser', name, { status, annotations: { [externalID]: id }, by: operator });
    };
    const lost = ['x', 'y', 'z'];
    for (const name of lost) await world.write('BotUser', name, { spec: { name } });
    const made = await Promise.all(lost.map(makes));
    if (isRecorded) for (const [at, id] of made.entries()) await records(lost[at] ?? '', id);
    await world.pass(1_000);
    world.begin(operator);
    if (!isRecorded) for (const [at, id] of made.entries()) await records(lost[at] ?? '', id);
    for (const id of ids) await vanish(id);
    const annotations = { 'edge-operator.dev/installation': 'edge-operator-op-00000000' };
    await world.write('BotUser', 'bot', { annotations, by: operator });
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    expect(await spoke()).toHaveLength(times);
  });

  test.each([
    ['is true beside what another installation made in its account', 'narrow-0.0', 0],
    ['is not true of a kind of which nothing but what this one made there with a wrong key is missing', operator, 2],
  ])('%s', async (_, by, times) => {
    begin({
      installations: [{ name: 'op' }, { name: 'narrow', settings: { watchNamespaces: 'b' }, apiKey: secondKey }],
      acts: [{ at: 0, do: 'start', installation: 'narrow' }],
    });
    world.begin('narrow-0.0', { watchNamespaces: 'b' }, secondKey);
    for (const name of ['w', 'x', 'y', 'z']) await madeBotUser(world, name);
    await madeBotUser(world, 'theirs', { namespace: 'b', by, key: secondKey });
    await world.pass(1_000);
    world.begin(operator);
    for (const name of ['one', 'two']) {
      await world.write('ReservedAddr', name, { spec: { description: name } });
      const id = await world.make('reserved_addrs', { description: name });
      const status = unready(1, 'Unreachable', 'Reconciling', { id, ownership: { id, how: 'Created' } });
      await world.write('ReservedAddr', name, { status, annotations: { [externalID]: id }, by: operator });
      await world.call({ method: 'DELETE', path: `/reserved_addrs/${id}`, by: 'person' });
    }
    expect((await spoke()).filter((line) => line.includes('ReservedAddr'))).toHaveLength(times);
  });

  test('is true beside what its installation put on record since it began, though another one began later', async () => {
    begin({
      installations: [{ name: 'op' }, { name: 'late', apiKey: secondKey }],
      acts: [{ at: 0, do: 'start', installation: 'late' }],
    });
    world.begin(operator);
    const gone = [await madeBotUser(world, 'one'), await madeBotUser(world, 'two')];
    for (const name of ['x', 'y', 'z']) await madeBotUser(world, name);
    await world.pass(1_000);
    world.begin('late-0.0', {}, secondKey);
    for (const id of gone) await vanish(id);
    for (const [at, name] of ['one', 'two'].entries()) {
      const status = unready(1, 'Unreachable', 'Reconciling', { ownership: { id: gone[at], how: 'Created' } });
      await world.write('BotUser', name, { status, by: operator });
    }
    expect(await spoke()).toEqual([]);
  });

  test('is true of a lone one that is there with the key before', async () => {
    world.begin('op-0.1', {}, secondKey);
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    await say('BotUser', 'import', 'ExternalNotFound');
    expect(await spoke()).toEqual([]);
  });

  test('is not true of a lone one', async () => {
    await vanish(ids[0]);
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    expect(await spoke()).toEqual(['BotUser a/bot is not Ready: Unreachable, so it is']);
  });
});

describe('Unreachable, of a lone one that was not seen with the key in force', () => {
  const rotated = 'main-key-CANARY-9';
  let id: string;
  beforeEach(async () => {
    begin({
      cloud: { apiKeys: [`main=${mainKey}`, `main=${rotated}`] },
      installations: [{ name: 'op' }, { name: 'narrow', settings: { watchNamespaces: 'b' } }],
    });
    id = await madeBotUser(world);
  });

  async function rotate() {
    await world.pass(1_000);
    world.begin('op-0.1', {}, rotated);
  }
  async function rekey(key = rotated) {
    await world.pass(1_000);
    world.begin('op-0.0', {}, key, true);
  }
  const vanish = (by = 'person') => world.call({ method: 'DELETE', path: `/bot_users/${id}`, by });
  const read = (key = rotated) =>
    world.call({ method: 'GET', path: '/bot_users', key, answer: { bot_users: [{ id }] } });
  const makeAnother = () => madeBotUser(world, 'another');
  const unreachable = 'BotUser a/bot is not Ready: Unreachable, so it is';

  test.each([
    ['is true where somebody deleted it', [], [vanish, rotate]],
    ['is true where another installation deleted it', [], [() => vanish('narrow-0.0'), rotate]],
    ['is true beside what was made with that key', [], [vanish, rotate, makeAnother]],
    ['is not true while it is there', [unreachable], [rotate]],
    ['is not true where nobody else deleted it', [unreachable], [() => vanish(operator), rotate]],
    ['is true where it was first seen in the moment of the change', [], [rekey, read, vanish]],
    [
      'is true where that was when the key was put back',
      [],
      [rekey, () => rekey(mainKey), () => read(mainKey), vanish],
    ],
    ['is not true where that was a moment later', [unreachable], [rekey, () => world.pass(1_001), read, vanish]],
    ['is not true where it was checked after that', [unreachable], [rekey, read, () => world.pass(3_600_000), vanish]],
    ['is not true with the key with which it was seen', [unreachable], [vanish]],
    ['is not true where it was seen with that key too', [unreachable], [rotate, read, vanish]],
    ['is not true beside another one that was there before', [unreachable], [makeAnother, vanish, rotate]],
    ['is true beside one, to a second process since', [], [makeAnother, vanish, rotate, rotate]],
    ['is true where it was seen with that key just before, to the next process', [], [rotate, read, vanish, rotate]],
    [
      'is not true where it was checked since',
      [unreachable],
      [rotate, read, () => world.pass(3_600_000), vanish, rotate],
    ],
  ])('%s', async (_, said, happens) => {
    for (const each of happens) await each();
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    expect(await spoke()).toEqual(said);
  });
});

describe('Unreachable, of a create that nobody knows the end of', () => {
  const rotated = 'main-key-CANARY-9';
  const begun = (account: string) => ({
    'edge-operator.dev/create-intent': '{"at":"2030-01-01T00:00:00Z","clock":"own"}',
    'edge-operator.dev/account': account,
  });
  const unreachable = 'BotUser a/bot is not Ready: Unreachable, so it is';

  beforeEach(() => begin({ cloud: { apiKeys: [`main=${mainKey}`, `main=${rotated}`] } }));

  async function rotate() {
    await world.pass(1_000);
    world.begin('op-0.1', {}, rotated);
  }
  /** The first key is in force again, for so long. */
  async function back(ms: number) {
    world.begin('op-0.2');
    await world.pass(ms);
  }
  const make = () => madeBotUser(world, 'another');

  test.each([
    ['is not true with the key that it was sent with', [unreachable], [], 'default', []],
    ['is true with another one', [], [], 'default', [rotate]],
    ['is true beside what was made with that one', [], [], 'default', [rotate, make]],
    ['is not true beside what was there before', [unreachable], [make], 'default', [rotate]],
    ['is true beside that, to a second process since', [], [make], 'default', [rotate, rotate]],
    ['is true where another one was in force just before', [], [rotate, () => back(5_000)], 'default', []],
    ['is not true where it was long before', [unreachable], [rotate, () => back(120_000)], 'default', []],
    ['is not true where its account is gone', [unreachable], [], 'CloudAccount/none', [rotate]],
  ])('%s', async (_, said, before, account, after) => {
    for (const each of before) await each();
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.write('BotUser', 'bot', { annotations: begun(account), by: operator });
    for (const each of after) await each();
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    expect(await spoke()).toEqual(said);
  });

  const mark = 'edge-operator.dev/create-intent';
  const later = '{"at":"2030-01-01T00:02:00Z","clock":"own"}';
  test.each<[string, readonly string[], readonly (string | null)[]]>([
    ['is true with another one, whatever date the mark was given since', [], [later]],
    ['is true with another one where a person set the mark back', [], [null, begun('default')[mark]]],
    ['is not true where another was begun since', [unreachable], [null, later]],
  ])('%s', async (_, said, marks) => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.write('BotUser', 'bot', { annotations: begun('default'), by: operator });
    await rotate();
    for (const each of marks) {
      await world.pass(120_000);
      await world.write('BotUser', 'bot', { annotations: { [mark]: each }, by: 'op-0.1' });
    }
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    expect(await spoke()).toEqual(said);
  });

  test('is true where another installation sent it', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.write('BotUser', 'bot', { annotations: begun('default'), by: 'other-0.0' });
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    expect(await spoke()).toEqual([]);
  });

  test.each([
    [60_000, []],
    [600_000, [unreachable]],
  ])('is true where a backup was restored since, as %i ms after it was made', async (forMs, said) => {
    begin({ acts: [{ at: 0, do: 'trouble', name: 'kube-restored', forMs }] });
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.write('BotUser', 'bot', { annotations: begun('default'), by: operator });
    await world.pass(300_000);
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    expect(await spoke()).toEqual(said);
  });

  test.each([
    ['is true where much of its account is gone, whatever account it names by then', 'default', []],
    ['is not true where much of another account is', 'CloudAccount/acct', [unreachable]],
  ])('%s', async (_, account, said) => {
    await world.data('Secret', 'key', { key: secondKey });
    await world.write('CloudAccount', 'acct', { spec: { apiKeySecretRef: { name: 'key', key: 'key' } } });
    await world.write('CloudAccount', 'acct', { status: available(1), by: operator });
    const gone = [await madeBotUser(world, 'one'), await madeBotUser(world, 'two')];
    await world.write('BotUser', 'bot', { spec: { name: 'bot', accountRef: { name: 'acct' } } });
    await world.write('BotUser', 'bot', { annotations: begun(account), by: operator });
    for (const id of gone) await world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'person' });
    await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
    expect((await spoke()).filter((line) => line.includes('a/bot '))).toEqual(said);
  });
});
