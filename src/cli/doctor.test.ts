import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { doctorCommand } from './doctor.ts';

/** Any file of one word will do. */
const keyFile = join(import.meta.dirname, '../../.nvmrc');

test.each([
  [['--timeout', 'soon'], '--timeout soon is no duration'],
  [['--sample', ''], '--sample: "" is no name of a namespace'],
  [['--sample', 'A B'], '--sample: "A B" is no name of a namespace'],
  [['--sample-account', 'blue'], '--sample-account needs --sample <namespace>'],
  [['--api-key-file', keyFile], '--api-url is needed'],
  [
    ['--api-url', 'x'],
    '--api-url (or EDGE_OPERATOR_API_URL): "x" must begin with https:// or http://: write https://x',
  ],
])('%j is one clear line', async (flags, message) => {
  const error = await doctorCommand()
    .parseAsync(flags, { from: 'user' })
    .catch((reason: Error) => reason);
  expect(error).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
});
