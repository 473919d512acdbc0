import { expect, test } from '@jest/globals';
import { startTestCloud } from '../../../test/support/cloud-api.ts';
import { systemRuntime } from '../../common/runtime.ts';

test('a fault of the server is 500 without its message, and reported under the operation id', async () => {
  const failures: [string, unknown][] = [];
  let broken = false;
  const now = () => (broken ? Number.NaN : Date.now());
  const cloud = await startTestCloud({
    faultControl: false,
    runtime: { ...systemRuntime, clock: { ...systemRuntime.clock, now } },
    onFailure: (operationId, error) => failures.push([operationId, error]),
  });
  try {
    broken = true;
    const answer = await cloud.call('POST', '/bot_users', { name: 'a' });
    expect(answer).toMatchObject({ status: 500, body: { error_code: 'ERR_EDGE_500', status_code: 500 } });
    expect(answer.body.msg).not.toMatch(/time/i);
    expect(failures).toEqual([[answer.body.details.operation_id, expect.any(RangeError)]]);
  } finally {
    await cloud.stop();
  }
});
