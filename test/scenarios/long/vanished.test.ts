import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { annotation } from '../../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import { startTestCloud, type TestCloud } from '../../support/cloud-api.ts';
import { inSetting } from '../../support/setting.ts';
import { until } from '../../support/until.ts';
import { startWorld, type World } from '../../support/world.ts';

/* The cloud comes back without its state, at the same address: what one operator process made there is not found. */

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface Emptied {
  readonly account: ManagedObject;
  /** Of addresses that were there. */
  readonly made: readonly ManagedObject[];
  readonly empty: TestCloud;
}

async function whenEmptied(count: number, look: (emptied: Emptied) => Promise<void>): Promise<void> {
  const others: TestCloud[] = [];
  await inSetting(world, async ({ namespace, cloud, start }) => {
    start('--resync-interval', '1s', '--requests-per-minute', '10000');
    await world.give('Secret', namespace, 'keys', { key: cloud.apiKey });
    const apiKeySecretRef = { name: 'keys', key: 'key' };
    const account = await world.apply('CloudAccount', namespace, 'acct', {
      apiKeySecretRef,
      requestsPerMinute: 10_000,
    });
    const names = Array.from({ length: count }, (_, index) => `r${index}`);
    const specOf = (description: string) => ({ description, accountRef: { name: 'acct' } });
    const applied = await Promise.all(names.map((name) => world.apply('ReservedAddr', namespace, name, specOf(name))));
    const made = await Promise.all(applied.map((object) => world.reason(object, 'Available')));
    const port = Number(new URL(cloud.url).port);
    await cloud.stop();
    const empty = await startTestCloud({ port });
    others.push(empty);
    await look({ account, made, empty });
  }).finally(() => Promise.all(others.map((each) => each.stop())));
}

const posts = ({ empty }: Emptied) => empty.requests().filter(({ method }) => method === 'POST');

/** Until it has another object than it had. */
const madeAgain = (before: ManagedObject) =>
  until(`${before.metadata.name} to be made again`, async () => {
    const found = await world.get(before);
    const isReady = found !== undefined && conditionOf(found, 'Ready')?.status === 'True';
    return isReady && found.status?.id !== before.status?.id;
  });

const doubted = (object: ManagedObject) =>
  until(`${object.metadata.name} to be in doubt`, async () => {
    const found = await world.get(object);
    const { reason, message } = (found && conditionOf(found, 'Ready')) ?? {};
    return reason === 'Unreachable' && message?.includes('vanished at once');
  });

test.concurrent('two that it made are made again', () =>
  whenEmptied(2, async (emptied) => {
    await Promise.all(emptied.made.map(madeAgain));
    expect(posts(emptied)).toHaveLength(2);
  }));

describe('of four that it made none is made again', () => {
  test.concurrent('until a person says of one that it is gone', () =>
    whenEmptied(4, async (emptied) => {
      await Promise.all(emptied.made.map(doubted));
      expect(posts(emptied)).toEqual([]);
      const [first, ...others] = emptied.made as readonly [ManagedObject, ...ManagedObject[]];
      await world.annotate(first, { [annotation.reconcileAt]: 'it is gone' });
      await madeAgain(first);
      await Promise.all(others.map(doubted));
      expect(posts(emptied)).toHaveLength(1);
    }));

  test.concurrent('until a person says so of the account', () =>
    whenEmptied(4, async (emptied) => {
      await Promise.all([...emptied.made, emptied.account].map(doubted));
      await world.annotate(emptied.account, { [annotation.reconcileAt]: 'they are gone' });
      await Promise.all(emptied.made.map(madeAgain));
      await world.reason(emptied.account, 'Available');
      expect(posts(emptied)).toHaveLength(4);
    }));
});
