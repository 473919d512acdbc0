import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { main } from '../../support/main.ts';
import { startWorld, type World } from '../../support/world.ts';

/* The operator as a process that is asked for what it cannot do. */

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe('what cannot be used is one line and exit code 2', () => {
  const cases: readonly [args: string[], line: RegExp, env?: Record<string, string>][] = [
    [['--resync-interval', '5'], /--resync-interval .*"5" .*30s/],
    [['--resync-interval', '10ms'], /--resync-interval .*at least 100ms/],
    [['--api-url', 'ftp://x'], /--api-url .*"ftp:\/\/x" .*https/],
    [['--concurrency', '0'], /--concurrency .*at least 1/],
    [['--requests-per-minute', 'many'], /--requests-per-minute .*whole number/],
    [['--metrics-addr', 'nonsense'], /--metrics-addr .*host:port/],
    [['--log-level', 'loud'], /--log-level .*error, warn, info or debug/],
    [['--kubeconfig', '/nowhere/config'], /\/nowhere\/config/],
    [['--api-key-file', '/nowhere/key'], /--api-key-file.*\/nowhere\/key/],
    [['--watch-namespaces', 'A B'], /--watch-namespaces .*"A B" is no list of namespaces/],
    [['--no-such-flag'], /--no-such-flag/],
    [['--api-url', 'http://cloud'], /EDGE_OPERATOR_API_KEY holds no API key/, { EDGE_OPERATOR_API_KEY: 'two\nlines' }],
    [
      [],
      /EDGE_OPERATOR_TAKE_OVER.*"maybe" is neither on nor off: write true or false/,
      { EDGE_OPERATOR_TAKE_OVER: 'maybe' },
    ],
    [['--create-settle', '2h'], /--create-settle .*at most 1h/],
    [[], /EDGE_OPERATOR_LOG_FORMAT.*"xml" .*json or text/, { EDGE_OPERATOR_LOG_FORMAT: 'xml' }],
  ];
  test.concurrent.each(cases)('%j', async (args, line, env = {}) => {
    const kubeconfig = args.includes('--kubeconfig') ? [] : ['--kubeconfig', world.kube.kubeconfig];
    const { code, stderr } = await run([...kubeconfig, ...args], env);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(line);
    expect(code).toBe(2);
  });

  test.concurrent('a key without an address', async () => {
    const { code, stderr } = await run(['--kubeconfig', world.kube.kubeconfig], { EDGE_OPERATOR_API_KEY: 'k' });
    expect(stderr).toMatch(/^error: --api-url is needed/);
    expect(code).toBe(2);
  });

  test.concurrent('an address that is taken', async () => {
    const taken = new URL(world.cloud.url).host;
    const { code, stderr } = await run(['--kubeconfig', world.kube.kubeconfig, '--metrics-addr', taken]);
    expect(stderr).toBe(`error: --metrics-addr: cannot listen on ${taken}: the address is in use\n`);
    expect(code).toBe(2);
  });

  const unknown = { EDGE_OPERATOR_METRICS_PORT: '1' };

  test.concurrent('one address for two servers, and a variable that nobody reads', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const address = `127.0.0.1:${(free.address() as AddressInfo).port}`;
    await promisify(free.close.bind(free))();
    const { code, stderr } = await run(
      ['--kubeconfig', world.kube.kubeconfig, '--metrics-addr', address, '--health-addr', address],
      unknown,
    );
    expect(stderr).toBe(`error: --health-addr: cannot listen on ${address}: the address is in use\n`);
    expect(code).toBe(2);
  });

  test.concurrent('but of the variable alone the log tells', async () => {
    const args = ['--kubeconfig', world.kube.kubeconfig, '--metrics-addr', '0', '--health-addr', '0'];
    const child = spawn(process.execPath, [main, 'run', ...args], {
      env: { PATH: process.env.PATH, ...unknown },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'exit');
    let log = '';
    for await (const chunk of child.stderr) {
      log += chunk;
      // A second signal would end it at once.
      if (!child.killed && log.includes('"started"')) child.kill();
    }
    expect(log.indexOf('EDGE_OPERATOR_METRICS_PORT is no variable')).toBeGreaterThan(0);
    expect(await exited).toEqual([0, null]);
  });

  test.concurrent('no kubeconfig anywhere', async () => {
    const { code, stderr } = await run([], { HOME: '/nowhere' });
    expect(stderr).toBe('error: kubeconfig /nowhere/.kube/config: no such file; --kubeconfig names another\n');
    expect(code).toBe(2);
  });

  async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [main, 'run', ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return { code, stderr };
  }
});
