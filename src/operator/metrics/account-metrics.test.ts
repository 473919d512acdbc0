import { describe, expect, test } from '@jest/globals';
import { setup } from './scrape.fixture.ts';

describe('an account', () => {
  const budget = () => ({ used: 0, limit: 120, waiting: {} });
  const ok = { status: 200, outcome: 'ok' };

  test.each<[{ status: number | undefined; outcome: string; keyRefused?: boolean }, string, string]>([
    [ok, 'usable', 'it answers'],
    [{ status: 429, outcome: 'RateLimited' }, 'usable', 'it answers, if not now'],
    [{ status: 403, outcome: 'Unauthorized' }, 'usable', 'only this one thing is forbidden'],
    [{ status: 401, outcome: 'Unauthorized', keyRefused: true }, 'unauthorized', 'the key is refused'],
    [{ status: 403, outcome: 'Unauthorized', keyRefused: true }, 'unauthorized', 'a list is refused'],
    [{ status: 503, outcome: 'Unreachable' }, 'unreachable', 'no answer that could be used'],
    [{ status: undefined, outcome: 'Unreachable' }, 'unreachable', 'no answer'],
  ])('after %j is %s: %s', async (sample, expected) => {
    const { metrics, lines } = setup();
    const account = metrics.account('default');
    account.show(budget);
    expect(await lines('edge_operator_cloud_account_state')).toEqual([]);
    account.onRequest(ok);
    account.onRequest(sample);
    expect(await lines('edge_operator_cloud_account_state')).toEqual(
      ['usable', 'unauthorized', 'unreachable'].map(
        (state) =>
          `edge_operator_cloud_account_state{account="default",state="${state}"} ${state === expected ? 1 : 0}`,
      ),
    );
  });

  test('is unauthorized while it has a key that cannot be sent, whatever the last request showed', async () => {
    const { metrics, lines } = setup();
    let isKeyUnusable = true;
    const account = metrics.account('default');
    account.show(() => ({ ...budget(), isKeyUnusable }));
    const current = async () =>
      (await lines('edge_operator_cloud_account_state')).filter((line) => line.endsWith(' 1'));
    const shown = (state: string) => [`edge_operator_cloud_account_state{account="default",state="${state}"} 1`];
    expect(await current()).toEqual(shown('unauthorized'));
    account.onRequest(ok);
    expect(await current()).toEqual(shown('unauthorized'));
    isKeyUnusable = false;
    expect(await current()).toEqual(shown('usable'));
  });

  test('counts its 429 answers from zero, and is gone when it is closed', async () => {
    const { metrics, lines } = setup();
    const account = metrics.account('default');
    const close = account.show(budget);
    const name = 'edge_operator_cloud_rate_limited_total';
    expect(await lines(name)).toEqual([`${name}{account="default"} 0`]);
    account.onRequest({ status: 429, outcome: 'RateLimited' });
    expect(await lines(name)).toEqual([`${name}{account="default"} 1`]);
    close();
    expect([...(await lines(name)), ...(await lines('edge_operator_cloud_account_state'))]).toEqual([]);
  });
});
