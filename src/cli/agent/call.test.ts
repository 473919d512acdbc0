import { expect, test } from '@jest/globals';
import { ApiError } from '../../common/http/errors.ts';
import { callAgent } from './call.ts';

const flags = { agentUrl: 'http://127.0.0.1:1', output: 'table' } as const;

test.each([
  ['requests.list', 'agent http://127.0.0.1:1: requests.list: larger; --limit asks for fewer'],
  ['tunnels.list', 'agent http://127.0.0.1:1: tunnels.list: larger'],
])('what to do about %s that is too large is said where there is something', async (operation, message) => {
  const failed = { operation, reason: 'Unreachable', definite: false, status: 200, isTooLarge: true } as const;
  const call = callAgent(flags, () => Promise.reject(new ApiError('larger', failed)));
  await expect(call).rejects.toMatchObject({ message });
});
