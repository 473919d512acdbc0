import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { agentCommand } from './agent.ts';

let dir: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'agent-command-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rm(dir, { recursive: true }));

async function configFile(yaml: string): Promise<string> {
  const file = join(dir, 'agent.yml');
  await writeFile(file, yaml);
  return file;
}

const failure = (...flags: readonly string[]) =>
  agentCommand()
    .parseAsync(flags, { from: 'user' })
    .catch((error: Error) => error);

describe('what cannot be used ends with one line that names it', () => {
  test.each([
    ['--web-addr', 'x', '--web-addr must be host:port'],
    ['--edge-addr', 'localhost:99999', '--edge-addr must be host:port'],
    ['--config', '/none/such', '--config /none/such cannot be read: ENOENT'],
  ])('%s %s', async (flag, value, message) => {
    expect(await failure(flag, value)).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
  });

  test.each([
    ['web_addr: 5', 'invalid field "web_addr": must be a string'],
    ['web_addr: nowhere', 'invalid field "web_addr": must be host:port'],
    ['web_adr: ":1"', 'unknown field "web_adr"'],
    ['inspect_db_size: -2', 'invalid field "inspect_db_size": must be at least -1'],
    ['web_allow_hosts: [a b]', 'invalid field "web_allow_hosts[0]"'],
    ['tunnels: [a]', 'invalid field "tunnels"'],
    ['tunnels: {web: {proto: http}}', 'tunnels.web: missing field "addr"'],
    ['tunnels: {web: {proto: http, addr: 80, inspct: true}}', 'tunnels.web: unknown field "inspct"'],
    ['tunnels: {web: 80}', 'tunnels.web: '],
    ['- a', 'must be a map of settings'],
    ['a: [', 'not valid YAML'],
  ])('agent.yml with %s', async (yaml, message) => {
    const error = await failure('--config', await configFile(yaml));
    expect(error).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
    expect((error as Error).message).not.toContain('\n');
  });
});

describe('the process', () => {
  async function run(...flags: readonly string[]) {
    const script = `import('./src/commands/agent.ts').then((m) => m.agentCommand().parseAsync(process.argv.slice(1), { from: 'user' }))`;
    const child = spawn(process.execPath, ['-e', script, '--', ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(child);
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const [url = '', edgeURL = ''] = line.match(/http:\/\/[\d.:]+/g) ?? [];
    return { child, url, edgeURL };
  }

  test('starts the tunnels of agent.yml, prints its addresses, and ends on SIGTERM', async () => {
    const yaml = `
web_addr: 127.0.0.1:1
inspect_db_size: 1000000
region: eu
tunnels:
  web: { proto: http, addr: 8080, inspect: false }
  db: { proto: tcp, addr: localhost:5432 }
`;
    const file = await configFile(yaml);
    const { child, url, edgeURL } = await run('--config', file, '--web-addr', '127.0.0.1:0', '--edge-addr', ':0');
    const { tunnels } = (await (await fetch(`${url}/api/tunnels`)).json()) as { tunnels: object[] };
    expect(tunnels).toMatchObject([
      {
        name: 'web',
        public_url: `http://web.localhost:${new URL(edgeURL).port}`,
        config: { addr: '8080', inspect: false },
      },
      { name: 'db', proto: 'tcp', config: { addr: 'localhost:5432' } },
    ]);
    const status = (await (await fetch(`${url}/api/status`)).json()) as object;
    expect(status).toMatchObject({ status: 'online', session: { legs: [{ region: 'eu' }] } });
    expect(await (await fetch(url)).text()).toContain('<title>Inspector</title>');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('needs no file', async () => {
    const { child, url } = await run('--web-addr', '127.0.0.1:0');
    expect((await fetch(`${url}/api/`)).status).toBe(200);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
