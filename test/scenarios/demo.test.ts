import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { main } from '../support/main.ts';

test('demo --once shows every sample Ready and a request on its way, and ends', async () => {
  const child = spawn(process.execPath, [main, 'demo', '--once'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(output).toMatch(/^ReservedAddr\/db {2}Ready=True {2}Available {2}ra_\w{27}$/m);
  expect(output).toMatch(/^AgentTunnel\/shop {2}Ready=True {2}Available$/m);
  expect(output).toMatch(/asked +http:\/\/shop\.localhost:\d+\/hello$/m);
  expect(output).toMatch(/answered +Hello from the sample app: GET \/hello$/m);
  expect(output).toMatch(/replayed +RequestReplay default\/again$/m);
  expect(output).toMatch(/mirrored +ConfigMap default\/endpoint-ep-/);
});
