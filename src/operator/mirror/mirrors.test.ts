import { expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import type { KubeClient } from '../kube/client.ts';
import { KubeError } from '../kube/errors.ts';
import { Mirrors } from './mirrors.ts';

test.each([
  ['may not be deleted is said', 403, { resolves: false }],
  ['a webhook lets nobody delete is said', 400, { resolves: false }],
  ['a policy lets nobody delete is said', 422, { resolves: false }],
  ['cannot be deleted now is an error', 500, { rejects: 'no' }],
])('what %s', async (_, status, expected) => {
  const listAll = async () => {
    throw new KubeError('listing configmaps in team', { status, message: 'no' });
  };
  const client = { listAll } as unknown as KubeClient;
  const mirrors = new Mirrors({
    ...{ ...systemRuntime, reader: client, client, log: silentLog, takeOver: false },
    installation: () => ({ name: 'blue', plain: 'blue' }),
  });
  const removed = await mirrors.remove('team/main', 'team').then(
    (resolves) => ({ resolves }),
    ({ message }) => ({ rejects: message.replace(/.*: /, '') }),
  );
  expect(removed).toEqual(expected);
});
