import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { commands } from './index.ts';
import { productionCommands } from './production.ts';

const image = join(import.meta.dirname, '../image.ts');

const run = (...argv: readonly string[]) =>
  new Promise<readonly [code: unknown, stdout: string, stderr: string]>((resolve) => {
    execFile(process.execPath, [image, ...argv], (error, stdout, stderr) =>
      resolve([error?.code ?? 0, stdout, stderr]),
    );
  });

test('the program of the image lists its commands', async () => {
  const [code, stdout] = await run('--help');
  const listed = [...stdout.slice(stdout.indexOf('Commands:')).matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);
  expect([code, listed]).toEqual([0, [...productionCommands.keys(), 'help']]);
});

const left = [...commands.keys()].filter((name) => !productionCommands.has(name));
test.each(left)('the program of the image says where %s is', async (name) => {
  expect(await run(name)).toEqual([
    2,
    '',
    `error: unknown command '${name}'; it is not in this image; from a checkout there is: npm start -- ${name}\n`,
  ]);
});

test.each([
  ['agnt', "error: unknown command 'agnt' (Did you mean agent?)\n"],
  ['replay', "error: unknown command 'replay'; there is: edge-operator agent replay\n"],
])('%s is unknown', async (name, line) => {
  expect(await run(name, '--tunnel', 'x')).toEqual([2, '', line]);
  expect(await run('help', name)).toEqual([2, '', line]);
  expect(await run(name, '--help')).toEqual([2, '', line]);
});

test('of a value that is a file, by mistake, little is repeated, and nothing that a terminal obeys', async () => {
  const long = `${'x'.repeat(5_000)}\n\u001b[2J`;
  const said = `error: --limit must be a whole number of at least 1, not "${'x'.repeat(58)}… [2J"\n`;
  expect(await run('agent', 'requests', '--limit', long)).toEqual([2, '', said]);
});

test('help of a command below another is its own, and of one that is not there none', async () => {
  expect(await run('help', 'agent', 'tunnels', 'stop')).toEqual(await run('agent', 'tunnels', 'stop', '--help'));
  const none = [2, '', expect.stringMatching(/^error: agent has no command "stop", only http, .*\n$/)];
  expect(await run('help', 'agent', 'stop')).toEqual(none);
  expect(await run('agent', 'stop', '-h')).toEqual(none);
  expect(await run('help')).toEqual(await run('--help'));
  expect(await run('help', 'agent', '--config=x')).toEqual(await run('agent', '--help'));
});

test.each([
  [['run', '--leader-elect=maybe'], '--leader-elect=maybe is neither on nor off: write --leader-elect=true or'],
  [['run', '--take-over', 'false'], '--take-over false is two words: write --take-over=false'],
  [['run', '--leader-elect=true', '--log-level=x'], '--log-level'],
  [['run', '--leader-elect=false', '--shards=2'], '--shards (or EDGE_OPERATOR_SHARDS): 2 shards'],
  [['run', '--api-url', '--log-level', 'debug'], '--api-url needs a value, and "--log-level" is a flag'],
  // All that are given are one list.
  ...['run', 'doctor'].map((name): [string[], string] => [
    [name, '--watch-namespaces', 'a', '--watch-namespaces=B'],
    '--watch-namespaces (or EDGE_OPERATOR_WATCH_NAMESPACES): "a,B" is no list of namespaces',
  ]),
  [
    ['run', '--allowed-api-hosts=b/', '--allowed-api-hosts=a'],
    '--allowed-api-hosts (or EDGE_OPERATOR_ALLOWED_API_HOSTS): "b/,a"',
  ],
  [['agent', 'requests', '--limit', '--tunnel', 'web'], '--limit needs a value, and "--tunnel" is a flag'],
  [['agent', 'requests', '--limit', '-1'], '--limit must be a whole number of at least 1, not "-1"'],
  [['doctor', '--exit-code=false', '--timeout=soon'], '--timeout soon'],
  [['agent', 'http', '--no-inspect=true', '--set=x', '8080'], '--set'],
])('%j', async (argv, message) => {
  expect(await run(...argv)).toEqual([2, '', expect.stringContaining(`error: ${message}`)]);
});
