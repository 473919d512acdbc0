import { beforeEach, describe, expect, test } from '@jest/globals';
import { fewReads } from './few-reads.ts';
import { nobodyStarves } from './nobody-starves.ts';
import { available, FakeWorld, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

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

  test('what differs, and is only observed, is looked at alone at each check, and no more', async () => {
    for (let n = 0; n < 20; n += 1) {
      const spec = { name: 'x', managementPolicy: 'Observe', resyncIntervalSeconds: 60 };
      await world.write('BotUser', `bot-${n}`, { spec });
      await world.write('BotUser', `bot-${n}`, { status: unready(1, 'DriftDetected', 'Stalled'), by: operator });
    }
    for (let n = 0; n < 40; n += 1) {
      await read('/bot_users/bot_other', 20, 1);
      await world.pass(60_000);
    }
    expect(world.said).toEqual([]);
    await read('/bot_users/bot_other', 1_000, 1_000);
    expect(world.said).toEqual([expect.stringContaining('op reads cloud/main more than')]);
  });

  test('after a change everybody may look', async () => {
    for (let n = 0; n < 10; n += 1) {
      await world.write('BotUser', 'bot', { spec: { name: `n${n}` } });
      await read('/bot_users/x', 100, 3_000);
    }
    expect(world.said).toEqual([]);
  });

  describe('of a list of many pages', () => {
    let ids: readonly string[];

    beforeEach(async () => {
      ids = [];
      for (let n = 0; n < 500; n += 1)
        ids = [await world.make('bot_users', { name: `n${n}` }, { by: 'person' }), ...ids];
      await world.pass(60_000);
    });

    /** A list, newest first, of at most so many pages, each without some of what there is. */
    async function list(pages = 5, more: object = {}, hidden = 0) {
      for (let from = 0; from < pages * 100; from += 100) {
        const [before, last] = [ids[from - 1], ids[from + 99]];
        const next = last === ids.at(-1) ? null : `http://cloud.sim/bot_users?before_id=${last}&limit=100`;
        const path = `/bot_users?limit=100${before === undefined ? '' : `&before_id=${before}`}`;
        const shown = ids.slice(from + hidden, from + 100).map((id) => ({ id }));
        await world.call({ method: 'GET', path, answer: { bot_users: shown, next_page_uri: next }, ...more });
        await world.pass(600);
      }
    }

    /** Of a create that is sent and never answered, the mark. */
    async function lose(mark: object = { clock: 'service' }) {
      const annotations = { 'edge-operator.dev/create-intent': JSON.stringify(mark) };
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      await world.write('BotUser', 'bot', { annotations, by: operator });
      await world.make('bot_users', { name: 'bot' }, { arrives: false });
      await world.pass(1_000);
    }

    const times = async (count: number, what: () => Promise<void>) => {
      for (let n = 0; n < count; n += 1) await what();
    };

    test('a lost create costs a first page now and then', async () => {
      await lose();
      await times(20, () => list(1));
      expect(world.said).toEqual([]);
    });

    test('a lost create costs those pages that show what is younger', async () => {
      const old = ids;
      await lose();
      for (let n = 0; n < 150; n += 1) {
        const annotations = { 'edge-operator.dev/create-intent': '{"clock":"service"}' };
        await world.write('BotUser', `bot-${n}`, { spec: { name: `n${n}` }, annotations, by: operator });
        ids = [await world.make('bot_users', { name: `n${n}` }), ...ids];
      }
      await times(10, () => list(2));
      expect(world.said).toEqual([]);
      ids = old;
      await times(10, () => list(2));
      expect(world.said).toHaveLength(1);
    });

    test('a lost create costs the whole account five times (B2)', async () => {
      await lose();
      await times(5, list);
      expect(world.said[0]).toBe('few-reads: op lists all bot_users of cloud/main more than 2 times');
    });

    test('a page that lists of a lagging service show in part alone does not tell what is older', async () => {
      await lose();
      await times(10, () => list(2, {}, 1));
      expect(world.said).toEqual([]);
    });

    test('nor does one of which an item cannot be read', async () => {
      const { now: at } = world.scheduler;
      const odd = { at, do: 'trouble', name: 'odd-items', forMs: 60_000 } as const;
      Object.assign(world.story, { acts: [...world.story.acts, odd] });
      await lose();
      await times(10, () => list(2));
      expect(world.said).toEqual([]);
    });

    test('by the mark of a clock that may be wrong whatever is there may be its', async () => {
      await lose({ clock: 'own' });
      await times(5, list);
      expect(world.said).toEqual([]);
    });

    test.each([
      ['a check for drift costs all, at each interval', 600_000, 0],
      ['more often it is not needed', 60_000, 1],
    ])('%s', async (_, intervalMs, said) => {
      await madeBotUser(world);
      await times(5, async () => {
        await list();
        await world.pass(intervalMs);
      });
      expect(world.said).toHaveLength(said);
    });

    test('what failed is read again, or looked at anew', async () => {
      await madeBotUser(world);
      await times(3, () => list(2, { arrives: false }));
      await times(3, () => list(2, { status: 503 }));
      await world.write('BotUser', 'bot', { status: unready(1, 'DependencyNotReady', 'Reconciling'), by: operator });
      await times(4, list);
      expect(world.said).toEqual([]);
    });

    test('each process begins with a list', async () => {
      await madeBotUser(world);
      for (let n = 1; n < 10; n += 1) {
        world.begin(`op-0.${n}`);
        await list(5, { by: `op-0.${n}` });
      }
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
