import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Command } from 'commander';
import { clearCommand } from '../../src/cli/agent/clear.ts';
import { replayCommand } from '../../src/cli/agent/replay.ts';
import { requestsCommand } from '../../src/cli/agent/requests.ts';
import { statusCommand } from '../../src/cli/agent/status.ts';
import { tunnelsCommand } from '../../src/cli/agent/tunnels.ts';
import { main } from '../support/main.ts';
import { echo, type LocalServer, startLocal, startTestAgent, type TestAgent } from './support.ts';

let agent: TestAgent;
let local: LocalServer;

beforeAll(async () => {
  local = await startLocal(echo);
  agent = await startTestAgent();
});
afterAll(async () => {
  await agent.close();
  await local.stop();
});

/** What a command prints. */
async function output(command: Command, ...argv: readonly string[]): Promise<string> {
  let printed = '';
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((chunk: unknown, done: unknown) => {
    printed += String(chunk);
    if (typeof done === 'function') done();
    return true;
  });
  try {
    await command.parseAsync([...argv, '--agent-url', agent.url], { from: 'user' });
    return printed;
  } finally {
    write.mockRestore();
  }
}

const json = async (command: Command, ...argv: readonly string[]) =>
  JSON.parse(await output(command, ...argv, '-o', 'json'));

test('an agent is used from its first tunnel to its last', async () => {
  expect(await output(statusCommand())).toMatch(/^STATUS +VERSION +LEGS\nonline +1\.2\.3 +us \(\d+\.\d+ms\)\n$/);
  expect(await json(statusCommand())).toMatchObject({ status: 'online', session: { legs: [{ region: 'us' }] } });
  expect(await output(tunnelsCommand())).toBe('no tunnels\n');

  const started = await output(tunnelsCommand(), 'start', local.addr, '--name', 'web', '--set', 'metadata=m');
  const publicURL = /http:\S+/.exec(started)?.[0] ?? '';
  expect(started).toMatch(/^NAME .*\nweb +http +http:\S+ +\S+ +true +0 +0 +- +-\n$/);
  const other = await json(tunnelsCommand(), 'start', local.addr, '--proto', 'tcp', '--set', 'remote_port=0');
  expect(other).toMatchObject({ name: '', proto: 'tcp', config: { addr: local.addr, inspect: false, remote_port: 0 } });
  expect(await json(tunnelsCommand())).toMatchObject({ tunnels: [{ config: { metadata: 'm' } }, { proto: 'tcp' }] });
  const key = other.uri.split('/').at(-1);
  expect(await output(tunnelsCommand())).toContain(`\n${key}  tcp `);
  expect(await output(tunnelsCommand(), 'stop', key)).toBe(`tunnel "${key}" is stopped\n`);

  await agent.visit(`${publicURL}/one`, { method: 'POST', body: 'hello \u001b[31m' });
  const [{ id }] = (await json(requestsCommand(), '--tunnel', 'web', '--limit', '1')).requests;
  expect(await output(requestsCommand())).toMatch(new RegExp(`^ID .*\\n${id}  .* web +200 .* POST +/one\\n$`));
  expect(await output(requestsCommand(), '--tunnel', 'none')).toBe('no captured requests\n');
  const shown = await output(requestsCommand(), id);
  expect(shown).toContain('POST /one HTTP/1.1\n');
  expect(shown).toContain('\n\nhello \\x1b[31m\n');
  expect(shown).toContain('HTTP/1.1 200 OK\n');
  expect(await json(requestsCommand(), id)).toMatchObject({
    id,
    request: { raw: expect.stringMatching(/^[\w+/=]+$/) },
  });

  const replayed = await output(replayCommand(), id, '--tunnel', 'web');
  expect(replayed).toMatch(new RegExp(`^"${id}" is replayed as (req_\\w+); how it goes: .* agent requests \\1\\n$`));
  const copy = await json(replayCommand(), id);
  expect(await json(requestsCommand(), copy.id)).toMatchObject({ id: copy.id, replay_of: id });
  await json(tunnelsCommand(), 'start', local.addr, '--name', 'blind', '--no-inspect');
  expect(await output(replayCommand(), id, '--tunnel', 'blind')).toContain(`"${id}" is on its way`);
  expect(await json(replayCommand(), id, '--tunnel', 'blind')).toEqual({});
  expect(await output(clearCommand())).toBe('all captured requests are forgotten\n');
  expect(await json(clearCommand())).toEqual({});
  expect(await output(tunnelsCommand(), 'list')).toBe(await output(tunnelsCommand()));
  expect(await output(requestsCommand())).toBe('no captured requests\n');
  expect(await json(tunnelsCommand(), 'stop', 'web')).toEqual({});
});

describe('what cannot be done is one line that says why', () => {
  test.each<readonly [readonly string[], () => Command, string]>([
    [['none'], requestsCommand, 'the agent holds no captured request with the id "none"'],
    [['none'], replayCommand, 'requests.replay: the agent answered 404 (error 120): no such captured request'],
    [['stop', 'none'], tunnelsCommand, 'the agent runs no tunnel named "none"'],
    [['start', 'a b'], tunnelsCommand, 'invalid field "addr"'],
  ])('%j', async (argv, command, message) => {
    await expect(output(command(), ...argv)).rejects.toThrow(message);
  });

  test.each<readonly [readonly string[], () => Command, string]>([
    [['--limit', '0'], requestsCommand, '--limit must be a whole number of at least 1, not "0"'],
    [['id', '--tunnel', 'x'], requestsCommand, '--limit and --tunnel are for the list'],
    [['start', '80', '--set', 'x'], tunnelsCommand, '--set must be parameter=value, not "x"'],
    [['strat', '80'], tunnelsCommand, 'tunnels has no command "strat", only list, start, and stop'],
  ])('%j was used wrongly', async (argv, command, message) => {
    const error = output(command(), ...argv);
    await expect(error).rejects.toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
  });
});

describe('the exit code', () => {
  const run = (...argv: readonly string[]) =>
    new Promise<readonly [code: unknown, stderr: string]>((resolve) => {
      execFile(process.execPath, [main, ...argv], (error, _, stderr) => resolve([error?.code ?? 0, stderr]));
    });

  test.each<readonly [readonly string[], number, string]>([
    [
      ['agent', 'status', '--agent-url', 'http://127.0.0.1:1'],
      1,
      'error: agent http://127.0.0.1:1: status.get: the connection was refused; is it running there? (--agent-url)',
    ],
    [
      ['agent', 'tunnels', '--agent-url', 'http://u:secret@x'],
      2,
      'error: --agent-url (or EDGE_OPERATOR_AGENT_URL): the agent URL is no usable URL: write http://host[:port][/path], without user',
    ],
    [
      ['agent', 'status', '--agent-url', 'localhost:4040'],
      2,
      'the agent URL must begin with https:// or http://: write http://localhost:4040',
    ],
    [['agent', 'requests', '-o', 'yaml'], 2, "error: option '-o, --output <format>' argument 'yaml' is invalid"],
    [['agent', 'tunnels', 'start'], 2, "error: missing required argument 'addr'"],
    [['agent', 'tunnels', '--limit', '1'], 2, "error: unknown option '--limit'"],
    [
      ['agent', '--web-addr', ':0', 'status'],
      2,
      'error: --web-addr stands before "status": flags come after the command they are for',
    ],
    [['tunnels'], 2, "error: unknown command 'tunnels'; there is: edge-operator agent tunnels"],
    [['clear'], 2, "error: unknown command 'clear'; there is: edge-operator agent clear"],
    [
      ['agent', 'foo'],
      2,
      'error: agent has no command "foo", only http, tcp, tls, tunnels, requests, replay, clear, and status',
    ],
  ])('%j ends with %i', async (argv, code, line) => {
    const [exitCode, stderr] = await run(...argv);
    expect(exitCode).toBe(code);
    expect(stderr).toContain(line);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('secret');
  });

  test('is 0 when the reader has seen enough', async () => {
    const child = spawn(process.execPath, [main, 'crds'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect([stderr, code]).toEqual(['', 0]);
  });
});
