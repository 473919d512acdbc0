import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type AgentProcess, startAgentProcess } from '../../../test/support/agent-process.ts';
import { main } from '../../../test/support/main.ts';
import { until } from '../../../test/support/until.ts';
import { agentCommand } from './index.ts';

let dir: string;
const agents: AgentProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'agent-command-'));
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.stop('SIGKILL');
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
    ['--web-addr', 'x', '--web-addr must be host:port, [IPv6 address]:port, or :port for every interface, not "x"'],
    ['--web-addr', '4040', '--web-addr must be host:port, [IPv6 address]:port, or :port'],
    ['--web-addr', '::1:4040', '--web-addr must be host:port, [IPv6 address]:port, or :port'],
    ['--web-addr', 'http://localhost:4040', '--web-addr must be host:port, [IPv6 address]:port, or :port'],
    ['--web-addr', 'no.such.invalid:4040', '--web-addr: cannot listen on no.such.invalid:4040: '],
    ['--edge-addr', 'localhost:99999', '--edge-addr must be host:port'],
    ['--config', '', '--config must not be empty'],
    ['--config', '/none/such', '--config /none/such cannot be read: ENOENT'],
  ])('%s %s', async (flag, value, message) => {
    expect(await failure(flag, value)).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
  });

  test.each([
    [['--cloud-url', 'cloud.example'], '--cloud-url must begin with https:// or http://: write https://cloud.example'],
    [
      ['--cloud-url', 'http://user:word@cloud.example'],
      '--cloud-url is no usable URL: write https://host[:port][/path], without user',
    ],
    [['--cloud-url', 'http://cloud.example'], '--cloud-url (in agent.yml cloud_url) needs an API key'],
    [['--cloud-url', 'http://cloud.example', '--api-key-file', '/none/such'], '--api-key-file: ENOENT'],
    [['--api-key-file', ''], '--api-key-file must not be empty'],
    [['--cloud-url', 'http://cloud.example', '--api-key-file', ''], '--api-key-file must not be empty'],
    [['--api-key-file', '/none/such'], '--api-key-file (in agent.yml api_key_file) needs --cloud-url'],
  ])('%j', async (flags, message) => {
    expect(await failure(...flags)).toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(message),
    });
  });

  test.each([
    ['web_addr: 5', 'invalid field "web_addr": must be a string'],
    ['web_addr: nowhere', 'invalid field "web_addr": must be host:port'],
    ['web_adr: ":1"', 'unknown field "web_adr"'],
    ['{tunnels: {web: {proto: http, addr: 80}}, tunels: {}}', 'unknown field "tunels"'],
    ['{tunnels: {web: {proto: http, addr: }}}', 'tunnels.web: missing field "addr"'],
    ['{tunnels: {web: }}', 'tunnels.web: must be a map of parameters'],
    ['web_allow_hosts: [null]', 'invalid field "web_allow_hosts[0]"'],
    ['inspect_db_size: -2', 'invalid field "inspect_db_size": must be at least -1'],
    ['web_allow_hosts: [a b]', 'invalid field "web_allow_hosts[0]"'],
    ['cloud_url: here', 'invalid field "cloud_url": must begin with https:// or http://: write https://here'],
    ['api_key_file: ""', 'invalid field "api_key_file": must not be empty'],
    ['{cloud_url: "http://cloud.example", region: moon}', 'region must be one of au, eu'],
    ['tunnels: {web: {proto: http, addr: 80, metadata: 5}}', 'tunnels.web: invalid field "metadata"'],
    ['tunnels: [a]', 'invalid field "tunnels": must be a map of tunnels by name'],
    ['tunnels: {web: {proto: http, addr: 80, name: shop}}', 'tunnels.web: unknown field "name"'],
    ['tunnels: {web: {proto: http}}', 'tunnels.web: missing field "addr"'],
    ['tunnels: {web: {proto: http, addr: 80, inspct: true}}', 'tunnels.web: unknown field "inspct"'],
    ['tunnels: {web: 80}', 'tunnels.web: must be a map of parameters'],
    ['- a', 'must be a map of settings'],
    ['a: [', 'not valid YAML'],
    ['tunnels: {__proto__: {proto: http, addr: 80}}', 'Map keys must not be __proto__ at line 1'],
    ['tunnels: {a: &a {proto: http, addr: 80}, b: {<<: *a, inspct: false}}', 'tunnels.b: unknown field "inspct"'],
    ['region: us\n---\nregion: eu', 'not valid YAML: more than one document'],
  ])('agent.yml with %s', async (yaml, message) => {
    const error = await failure('--config', await configFile(yaml));
    expect(error).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
    expect((error as Error).message).not.toContain('\n');
  });
});

describe('a tunnel that cannot be used ends with one line that names the flag', () => {
  test.each([
    [['http', 'a b'], '<addr>: invalid field "addr": must be a port, host:port, or an http'],
    [['tcp', 'http://localhost'], '<addr>: invalid field "addr": must be a port or host:port'],
    [['http', '80', '--name', '..'], '--name: invalid field "name": must be at most 256 characters'],
    [['http', '80', '--set', 'subdomain=A'], '--set subdomain: invalid field "subdomain": must be a host name label'],
    [['tls', '80', '--set', 'subdomain=a'], '--set subdomain: unknown field "subdomain"'],
    [['http', '80', '--set', 'proto=tcp'], '--set proto: that is said by the protocol'],
    [['http', '80', '--web-addr', 'x'], '--web-addr must be host:port'],
  ])('%j', async (args, message) => {
    expect(await failure(...args)).toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
  });
});

describe('what cannot be had when it starts ends with one line that names it', () => {
  const taken = createServer().listen(0, '127.0.0.1');
  afterAll(() => void taken.close());

  test.each([
    ['web_addr: 127.0.0.1:TAKEN', 'web_addr: cannot listen on 127.0.0.1:TAKEN: the address is in use'],
    ['{web_addr: ":0", edge_addr: "127.0.0.1:TAKEN"}', 'edge_addr: cannot listen on 127.0.0.1:TAKEN'],
    ['{web_addr: ":0", tunnels: {db: {proto: tcp, addr: 1, remote_port: TAKEN}}}', 'tunnels.db: cannot listen on '],
    [
      '{web_addr: ":0", tunnels: {a: {proto: http, addr: 1, subdomain: b}, b: {proto: http, addr: 1, subdomain: b}}}',
      'tunnels.b: subdomain "b" is in use',
    ],
  ])('%s', async (yaml, message) => {
    const port = String((taken.address() as AddressInfo).port);
    const file = await configFile(yaml.replace('TAKEN', port));
    expect(await failure('--config', file)).toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(message.replace('TAKEN', port)),
    });
  });

  test.each([
    [['--web-addr', '127.0.0.1:TAKEN'], '--web-addr: cannot listen on 127.0.0.1:TAKEN'],
    [['--web-addr', ':0', '--edge-addr', '127.0.0.1:TAKEN'], '--edge-addr: cannot listen on 127.0.0.1:TAKEN'],
    [['http', '80', '--web-addr', '127.0.0.1:TAKEN'], '--web-addr: cannot listen on 127.0.0.1:TAKEN'],
  ])('by its flag where it was given by one: %j', async (args, message) => {
    const port = String((taken.address() as AddressInfo).port);
    const file = await configFile('{web_addr: ":0", edge_addr: ":0"}');
    const given = [...args.map((arg) => arg.replace('TAKEN', port)), '--config', file];
    expect(await failure(...given)).toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(message.replace('TAKEN', port)),
    });
  });

  test('the address before any tunnel is started', () => {
    const port = (taken.address() as AddressInfo).port;
    const file = join(dir, 'taken.yml');
    writeFileSync(file, `{web_addr: "127.0.0.1:${port}", tunnels: {db: {proto: tcp, addr: 1}}}`);
    const { status, stderr } = spawnSync(process.execPath, [main, 'agent', '--config', file], { encoding: 'utf8' });
    expect(stderr).toBe(`error: web_addr: cannot listen on 127.0.0.1:${port}: the address is in use\n`);
    expect(status).toBe(2);
  });

  test('the port of the one tunnel', async () => {
    const port = String((taken.address() as AddressInfo).port);
    expect(await failure('tcp', '1', '--web-addr', ':0', '--set', `remote_port=${port}`)).toMatchObject({
      name: 'UsageError',
      message: `the tunnel cannot be started: cannot listen on 127.0.0.1:${port}: the address is in use`,
    });
  });
});

describe('the process', () => {
  async function run(...flags: readonly string[]): Promise<AgentProcess> {
    const agent = await startAgentProcess(flags);
    agents.push(agent);
    return agent;
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
    const { url, edgeURL, stop } = await run('--config', file, '--edge-addr', ':0');
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
    expect(await stop('SIGTERM')).toBe(0);
  });

  test.each([
    [['http', '8080', '--name', 'web', '--no-inspect'], /^http:\/\/web\.localhost:\d+ forwards to 8080$/m],
    [['tcp', 'db:5432', '--set', 'metadata=m'], /^tcp:\/\/127\.0\.0\.1:\d+ forwards to db:5432$/m],
  ])('with one tunnel prints its public URL: %j', async (args, line) => {
    const file = await configFile('{region: eu, tunnels: {other: {proto: tcp, addr: 1}}}');
    const { url, logs, stop } = await run(...args, '--config', file);
    await until('the public URL', () => line.test(logs()));
    const { tunnels } = (await (await fetch(`${url}/api/tunnels`)).json()) as { tunnels: { public_url: string }[] };
    expect(tunnels).toMatchObject([{ proto: args[0], config: { addr: args[1], inspect: false } }]);
    expect(logs()).toContain(`${tunnels[0]?.public_url} forwards to`);
    const status = (await (await fetch(`${url}/api/status`)).json()) as object;
    expect(status).toMatchObject({ session: { legs: [{ region: 'eu' }] } });
    expect(await stop('SIGTERM')).toBe(0);
  });

  test('takes what agent.yml leaves empty for what is not there', async () => {
    const keys = ['web_addr', 'web_allow_hosts', 'edge_addr', 'inspect_db_size', 'region', 'cloud_url', 'api_key_file'];
    const file = await configFile(`${keys.map((key) => `${key}:\n`).join('')}tunnels:\n`);
    const { url } = await run('--config', file);
    expect(await (await fetch(`${url}/api/tunnels`)).json()).toMatchObject({ tunnels: [] });
    await writeFile(file, 'tunnels: {web: {proto: http, addr: 80, metadata: , inspect: }}');
    const other = await run('--config', file);
    const { tunnels } = (await (await fetch(`${other.url}/api/tunnels`)).json()) as { tunnels: object[] };
    expect(tunnels).toMatchObject([{ name: 'web', config: { addr: '80', inspect: true } }]);
  });

  test.each(['[::1]:0', 'localhost:0', ':0'])('listens on %s', async (address) => {
    const { url } = await run('--web-addr', address, '--edge-addr', address);
    expect((await fetch(`${url}/api/`)).status).toBe(200);
  });

  test.each(['SIGINT', 'SIGHUP'] as const)('needs no file, and ends on %s', async (signal) => {
    const { url, stop } = await run();
    expect((await fetch(`${url}/api/`)).status).toBe(200);
    expect(await stop(signal)).toBe(0);
  });
});
