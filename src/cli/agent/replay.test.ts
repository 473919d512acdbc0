import { expect, test } from '@jest/globals';
import { ApiError } from '../../common/http/errors.ts';
import type { RequestList } from '../../operator/agent-client/schemas.ts';
import { replay } from './replay.ts';

const tooLarge = () =>
  new ApiError('larger', { operation: 'requests.list', reason: 'Unreachable', definite: false, isTooLarge: true });

/** An agent with captured requests of these sizes, of which no answer takes more than one of 10. */
function agentWith(captured: readonly { readonly id: string; readonly replayOf?: string; readonly size: number }[]) {
  const all = [...captured];
  return {
    listRequests: async ({ limit }: { readonly limit?: number } = {}) => {
      const listed = all.slice(0, limit);
      if (listed.reduce((sum, { size }) => sum + size, 0) > 10) throw tooLarge();
      return { requests: listed.map(({ id, replayOf }) => ({ id, replay_of: replayOf })) } as unknown as RequestList;
    },
    replay: async ({ id }: { readonly id: string }) => void all.unshift({ id: 'new', replayOf: id, size: 4 }),
  };
}

const old = { id: 'old', replayOf: 'a', size: 1 };

test.each([
  ['among small ones', [{ id: 'a', size: 1 }, old]],
  ['among large ones', [{ id: 'a', size: 4 }, { id: 'b', size: 4 }, { id: 'c', size: 4 }, old]],
  ['after which the newest are too large', [{ id: 'a', size: 4 }, old, { id: 'b', size: 4 }]],
])('the new id is found %s', async (_, captured) => {
  expect((await replay(agentWith(captured), 'a')).json).toEqual({ id: 'new' });
});

test('where no list is to be had it is on its way', async () => {
  const result = await replay(agentWith([{ id: 'a', size: 9 }]), 'a');
  expect([result.json, result.text()]).toEqual([undefined, expect.stringContaining('"a" is on its way')]);
});
