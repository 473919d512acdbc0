import { expect, test } from '@jest/globals';
import { crdsCommand } from './crds.ts';

test.each([
  [['--out', import.meta.filename], '--out: EEXIST'],
  [['--check'], '--check needs --out'],
])('%j is one clear line', async (flags, message) => {
  const error = await crdsCommand()
    .parseAsync(flags, { from: 'user' })
    .catch((reason: Error) => reason);
  expect(error).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
});
