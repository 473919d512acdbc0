import { beforeEach, describe, expect, test } from '@jest/globals';
import { fewReads } from './few-reads.ts';
import { nobodyStarves } from './nobody-starves.ts';
import { available, FakeWorld, madeBotUser, operator, unready } from './witness.fixture.ts';

const externalID = 'edge-operator.dev/external-id';
let world: FakeWorld;

describe('few-reads', () => {
  beforeEach(async () => {
    world = new FakeWorld();
    world.judge(fewReads);
    await world.pass(60_000);
  });

  async function read(path: string, times: number, everyMs: number, more: object = {}) {
    for (let n = 0; n < times; n += 1) {
      await world.call({ method: 'GET', path, ...more });
      await world.pass(everyMs);
    }
  }

  async function imports(count: number) {
    for (let n = 0; n < count; n += 1) {
      const annotations = { [externalID]: `bot_absent${n}` };
      await world.write('BotUser', `import-${n}`, { spec: { name: 'x' }, annotations });
      await world.write('BotUser', `import-${n}`, { status: unready(1, 'ExternalNotFound', 'Stalled'), by: operator });
    }
  }

  test('a list now and then', async () => {
    await madeBotUser(world);
    await read('/bot_users?limit=100', 60, 300_000);
    expect(world.said).toEqual([]);
  });

  test('absent imports that are looked for at each check', async () => {
    await imports(20);
    for (let n = 0; n < 6; n += 1) {
      await read('/bot_users/bot_absent0', 20, 1);
      await world.pass(600_000);
    }
    expect(world.said).toEqual([]);
  });

  test('absent imports that are looked for all the time (B7)', async () => {
    await imports(20);
    await read('/bot_users/bot_absent0', 1_000, 2_000);
    expect(world.said).toEqual([expect.stringContaining('op reads cloud/main more than 65 times in 10 minutes')]);
  });

  test('after a change everybody may look', async () => {
    for (let n = 0; n < 10; n += 1) {
      await world.write('BotUser', 'bot', { spec: { name: `n${n}` } });
      await read('/bot_users/x', 100, 3_000);
    }
    expect(world.said).toEqual([]);
  });

  describe('a lost create', () => {
    const lose = () => world.make('bot_users', { name: 'bot' }, { arrives: false });
    const page = (more: object = {}) => read('/bot_users?limit=100', 1, 600, more);

    async function fill(count: number) {
      for (let n = 0; n < count; n += 1) await world.make('bot_users', { name: `n${n}` }, { by: 'person' });
      await world.pass(300_000);
    }

    test('costs a few pages', async () => {
      await fill(500);
      await lose();
      for (let n = 0; n < 6; n += 1) await page();
      expect(world.said).toEqual([]);
    });

    test('is one, too, where a gateway answers with a page of its own', async () => {
      await fill(500);
      const headers = { 'content-type': 'text/html' };
      for (let n = 0; n < 4; n += 1)
        await world.call({ method: 'POST', path: '/bot_users', body: { name: 'bot' }, status: 404, headers });
      await world.pass(600);
      for (let n = 0; n < 12; n += 1) await page();
      expect(world.said).toEqual([]);
      for (let n = 0; n < 20; n += 1) await page();
      expect(world.said).toEqual([expect.stringContaining('for 4 lost creates')]);
    });

    test('looks at no page that has one item: that asks whether the service answers', async () => {
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      await lose();
      await world.pass(600);
      for (let n = 0; n < 6; n += 1) await page();
      await read('/bot_users?limit=1', 10, 600);
      expect(world.said).toEqual([]);
    });

    test('costs the whole account five times (B2)', async () => {
      await fill(500);
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      await lose();
      await world.pass(600);
      for (let n = 0; n < 25; n += 1) await page();
      expect(world.said).toEqual([
        'few-reads: op reads more than 12 pages of bot_users of cloud/main for 1 lost creates',
      ]);
    });

    test('is looked for longer than a few minutes where others wait for the same budget', async () => {
      await fill(500);
      const annotations = { 'edge-operator.dev/create-intent': '{}' };
      for (let n = 0; n < 3; n += 1)
        await world.write('BotUser', `bot-${n}`, { spec: { name: 'bot' }, annotations, by: operator });
      await world.pass(300_000);
      await lose();
      await world.pass(600);
      for (let n = 0; n < 20; n += 1) await page();
      expect(world.said).toEqual([]);
    });

    test('a sweep that was due while the service was in trouble is made up for', async () => {
      await fill(500);
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      await lose();
      await world.call({ method: 'GET', path: '/bot_users?limit=1', status: 503 });
      await world.pass(90_000);
      for (let n = 0; n < 17; n += 1) await page();
      expect(world.said).toEqual([]);
      for (let n = 0; n < 10; n += 1) await page();
      expect(world.said).toEqual([expect.stringContaining('for 1 lost creates')]);
    });

    test('pages that fail have to be read again', async () => {
      await fill(500);
      await lose();
      await world.pass(600);
      for (let n = 0; n < 6; n += 1) await page();
      for (let n = 0; n < 10; n += 1) await page({ arrives: false });
      for (let n = 0; n < 20; n += 1) await page();
      expect(world.said).toEqual([]);
    });
  });
});

describe('nobody-starves', () => {
  beforeEach(async () => {
    world = new FakeWorld();
    world.judge(nobodyStarves);
    await world.pass(60_000);
  });

  const answer = (name: string, status: object = available(1)) =>
    world.write('BotUser', name, { status: { ...status }, by: operator });

  test('what is answered in time, whatever the answer', async () => {
    await world.write('BotUser', 'one', { spec: { name: 'one' } });
    await world.write('BotUser', 'two', { spec: { name: 'two' } });
    await world.pass(20_000);
    await answer('one');
    await answer('two', unready(1, 'Rejected', 'Stalled'));
    await world.pass(600_000);
    expect(world.said).toEqual([]);
  });

  test('what is not', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await answer('bot', unready(1, 'Creating', 'Reconciling'));
    await world.pass(100_000);
    expect(world.said).toEqual(['nobody-starves: BotUser a/bot had no answer 30 s after its last edit']);
  });

  test('what names an object that is not there waits for a second look at that first', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' }, annotations: { [externalID]: 'bot_gone' } });
    await answer('bot', unready(1, 'Creating', 'Reconciling'));
    await world.pass(80_000);
    expect(world.said).toEqual([]);
    await world.pass(20_000);
    expect(world.said).toHaveLength(1);
  });

  test('what bears the mark of a create, though a person forged it, waits until that has settled', async () => {
    const annotations = { 'edge-operator.dev/create-intent': '{}' };
    await world.write('BotUser', 'bot', { spec: { name: 'bot' }, annotations });
    await answer('bot', unready(1, 'Creating', 'Reconciling'));
    await world.pass(80_000);
    expect(world.said).toEqual([]);
    await world.pass(20_000);
    expect(world.said).toHaveLength(1);
  });

  test('an edit after which the status stays that of before', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await answer('bot');
    await world.pass(60_000);
    await world.write('BotUser', 'bot', { spec: { name: 'other' } });
    await world.pass(60_000);
    expect(world.said).toHaveLength(1);
  });

  test('nothing is asked while something is disturbed, or nobody is there', async () => {
    world = new FakeWorld({ acts: [{ at: 70_000, do: 'trouble', name: 'gateway-5xx', forMs: 1_000 }] });
    world.judge(nobodyStarves);
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.pass(600_000);
    expect(world.said).toEqual([]);
  });

  test('a crowd of its own namespace may go before, one of another may not (B3)', async () => {
    for (let n = 0; n < 120; n += 1)
      await world.write('BotUser', `crowd-${n}`, { namespace: 'crowd', spec: { name: 'x' } });
    for (let n = 0; n < 120; n += 1) await world.call({ method: 'GET', path: '/bot_users' });
    await world.write('BotUser', 'alone', { spec: { name: 'alone' } });
    await world.pass(90_000);
    expect(world.said).toEqual([]);
    await world.pass(5_000);
    expect(world.said).toEqual(['nobody-starves: BotUser a/alone had no answer 91 s after its last edit']);
  });

  test('a poor account waits for its own budget, and nobody else does (B1)', async () => {
    await world.data('Secret', 'key', { key: 'poor' });
    const spec = { apiKeySecretRef: { name: 'key', key: 'key' }, requestsPerMinute: 1 };
    await world.write('CloudAccount', 'acct', { spec });
    await world.write('BotUser', 'poor', { spec: { name: 'x', accountRef: { name: 'acct' } } });
    await world.write('BotUser', 'rich', { namespace: 'b', spec: { name: 'x' } });
    await world.pass(200_000);
    expect(world.said).toEqual(['nobody-starves: BotUser b/rich had no answer 30 s after its last edit']);
    await world.pass(100_000);
    expect(world.said).toHaveLength(2);
  });
});
