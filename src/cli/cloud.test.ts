import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { cloudCommand } from './cloud.ts';

let dir: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cloud-command-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rm(dir, { recursive: true }));

describe('flags that cannot be used end with one line that names them', () => {
  // A command has its process to itself, and listens to stderr to the end of it.
  const events = ['error', 'drain'];
  const before = events.map((event) => process.stderr.listeners(event));
  afterEach(() => {
    for (const [index, event] of events.entries()) {
      const added = process.stderr.listeners(event).filter((listener) => !before[index]?.includes(listener));
      for (const listener of added) process.stderr.off(event, listener as () => void);
    }
  });

  test.each([
    [['--port', 'x'], '--port must be'],
    [['--port', '65536'], '--port must be'],
    [['--host', ''], '--host must not be empty'],
    [['--host', 'no such host'], '--host: cannot listen on no such host: ENOTFOUND'],
    [['--data', ''], '--data must not be empty'],
    [['--rate-limit', '-1'], '--rate-limit must be'],
    [['--base-url', 'cloud'], '--base-url must be'],
    [
      ['--base-url', 'http://me:word@cloud'],
      '--base-url is no usable URL: write https://host[:port][/path], without user',
    ],
    [['--fault', 'GET /x explode'], '--fault: fault "GET /x explode": "explode" is none of'],
    [['--api-key', 'two words'], '--api-key or --api-key-file: API key 1 is neither'],
    [['--api-key-file', ''], '--api-key-file must not be empty'],
    [['--api-key-file', '/none/such'], '--api-key-file /none/such cannot be read: ENOENT'],
    [['--seed', '/none/such'], '--seed: seed file /none/such cannot be read'],
    [['--seed', ''], '--seed must not be empty'],
    [['--data', '/none/such/x.db'], '--data: data file /none/such/x.db cannot be used'],
  ])('%j', async (flags, message) => {
    const error = await cloudCommand()
      .parseAsync(flags, { from: 'user' })
      .catch((reason: Error) => reason);
    expect(error).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
    expect((error as Error).message).not.toContain('\n');
  });

  test('a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = String((server.address() as AddressInfo).port);
    const started = cloudCommand().parseAsync(['--port', port], { from: 'user' });
    await expect(started).rejects.toMatchObject({
      name: 'UsageError',
      message: `--port: ${port} is in use; pick another, or 0 for a free one`,
    });
    server.close();
  });

  test('a key file without a key', async () => {
    const file = join(dir, 'empty');
    await writeFile(file, '# nothing\n\n');
    await expect(cloudCommand().parseAsync(['--api-key-file', file], { from: 'user' })).rejects.toThrow('holds no key');
  });
});

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly line: string;
}

async function run(...flags: readonly string[]): Promise<Running> {
  const script = `import('./src/cli/cloud.ts').then((m) => m.cloudCommand().parseAsync(process.argv.slice(1), { from: 'user' }))`;
  const child = spawn(process.execPath, ['-e', script, '--', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { child, line, url: /http:\S+/.exec(line)?.[0] ?? '' };
}

const get = (url: string, key: string) =>
  fetch(url, { headers: { authorization: `Bearer ${key}`, 'service-version': '2' } });

describe('the process', () => {
  test.each(['SIGTERM', 'SIGHUP'] as const)(
    'prints its address and a key of its own making, has a default seed, and ends on %s',
    async (signal) => {
      const { child, line, url } = await run();
      const key = /API key: ([\w-]{32})\)\n$/.exec(line)?.[1] ?? '';
      const answer = await get(`${url}/endpoints`, key);
      expect(answer.status).toBe(200);
      expect(((await answer.json()) as { endpoints: unknown[] }).endpoints.length).toBeGreaterThan(0);
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
  );

  test('reads keys from a file, shows none, and keeps its data when it is killed', async () => {
    const keys = join(dir, 'keys');
    await writeFile(keys, '# team\nblue=k-1\n\nblue=k-2\n');
    const flags = ['--api-key-file', keys, '--data', join(dir, 'cloud.db')];
    const first = await run(...flags);
    expect(first.line).toBe(`Cloud Management API listening on ${first.url}\n`);
    const made = await fetch(`${first.url}/bot_users`, {
      method: 'POST',
      headers: { authorization: 'Bearer k-1', 'service-version': '2', 'content-type': 'application/json' },
      body: '{"name":"kept"}',
    });
    expect(made.status).toBe(201);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const second = await run(...flags);
    const list = await (await get(`${second.url}/bot_users`, 'k-2')).json();
    expect(list).toMatchObject({ bot_users: [{ name: 'kept' }] });
    second.child.kill('SIGINT');
    expect(await once(second.child, 'exit')).toEqual([0, null]);
  });
});
