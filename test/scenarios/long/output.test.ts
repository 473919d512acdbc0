import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type AgentClient, agentClient } from '../../agent/support.ts';
import { main } from '../../support/main.ts';
import { pidIn } from '../../support/pid-file.ts';
import { claimPorts } from '../../support/ports.ts';
import { until } from '../../support/until.ts';
import { startWorld } from '../../support/world.ts';

/* What a process goes through when what it writes is not read, or cannot be written. */

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** Somewhere to write to whose reader comes and goes. */
function pipe() {
  const dir = mkdtempSync(join(tmpdir(), 'edge-operator-test-'));
  undo.push(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let reading: number | undefined = reader();
  const writing = openSync(path, constants.O_WRONLY);
  const leave = () => reading !== undefined && closeSync(reading);
  undo.push(() => closeSync(writing), leave);
  return {
    dir,
    writing,
    /** Until not a byte more fits. */
    fill: () => {
      const filling = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      undo.push(() => closeSync(filling));
      for (const size of [4_096, 1]) {
        try {
          for (;;) writeSync(filling, Buffer.alloc(size, '.'));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        }
      }
    },
    leave: () => {
      leave();
      reading = undefined;
    },
    come: () => {
      reading = reader();
    },
    /** What there is to read now. */
    read: (): string => {
      const chunk = Buffer.alloc(1_000_000);
      let text = '';
      try {
        for (;;) {
          const count = readSync(reading as number, chunk);
          if (count === 0) return text;
          text += chunk.toString('utf8', 0, count);
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        return text;
      }
    },
  };
}

function ended(child: ChildProcess): Promise<number | NodeJS.Signals> {
  const exited = once(child, 'exit').then(([code, signal]) => code ?? signal);
  undo.push(() => {
    child.kill('SIGKILL');
    return exited;
  });
  return exited;
}

/** One of the product's processes: how it is started, and that it does what it is for. */
interface Program {
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly use: () => Promise<unknown>;
}

async function freePorts(count: number): Promise<readonly string[]> {
  const { ports, release } = await claimPorts(count);
  undo.push(release);
  return ports.map((port) => `127.0.0.1:${port}`);
}

const answers = (url: string, init: RequestInit = {}) =>
  until(`${url} to answer`, async () => (await fetch(url, init).catch(() => undefined))?.ok);

/** Lines of an agent's log: two for each tunnel, as long as a name can make them. */
async function log(client: AgentClient, tunnels: number): Promise<void> {
  const name = 'n'.repeat(250);
  for (let at = 0; at < tunnels; at += 1) {
    const { uri } = await client.tunnel({ name: `${name}${at}`, proto: 'http', addr: '1' });
    expect((await client.call('DELETE', uri)).status).toBe(204);
  }
}

async function agent(tunnels = 3): Promise<Program> {
  const [web, edge] = await freePorts(2);
  const client = agentClient({ url: `http://${web}`, edgeURL: `http://${edge}` });
  const use = async () => {
    await answers(`http://${web}/api/status`);
    await log(client, tunnels);
  };
  return { args: ['agent', '--web-addr', `${web}`, '--edge-addr', `${edge}`], use };
}

const key = 'a-key-for-tests';

async function cloud(): Promise<Program> {
  const [address = ''] = await freePorts(1);
  const headers = { authorization: `Bearer ${key}`, 'service-version': '2' };
  const use = () => answers(`http://${address}/bot_users`, { headers });
  return { args: ['cloud', '--port', `${address.split(':')[1]}`, '--api-key', key], use };
}

async function kubernetes(): Promise<Program> {
  const [address = ''] = await freePorts(1);
  const { dir } = pipe();
  const file = join(dir, 'kubeconfig');
  const use = async () => {
    const token = await until(
      'a kubeconfig',
      () => existsSync(file) && /token: (\S+)/.exec(readFileSync(file, 'utf8'))?.[1],
    );
    await answers(`http://${address}/api/v1/namespaces`, { headers: { authorization: `Bearer ${token}` } });
  };
  const port = `${address.split(':')[1]}`;
  return { args: ['kube', '--http', '--port', port, '--kubeconfig-out', file], use };
}

async function operator(): Promise<Program> {
  const world = await startWorld();
  undo.push(() => world.stop());
  const [metrics, health] = await freePorts(2);
  const namespace = await world.namespace();
  const use = async () => {
    await answers(`http://${health}/readyz`);
    for (const name of ['a', 'b', 'c'])
      await world.reason(await world.apply('BotUser', namespace, name, { name }), 'Available');
  };
  const where = ['--kubeconfig', world.kube.kubeconfig, '--api-url', world.cloud.url];
  const served = ['--metrics-addr', `${metrics}`, '--health-addr', `${health}`, '--log-level', 'debug'];
  return { args: ['run', ...where, ...served], env: { EDGE_OPERATOR_API_KEY: world.cloud.apiKey }, use };
}

function start({ args, env = {} }: Program, stdio: StdioOptions, wrap = (argv: readonly string[]) => argv) {
  const [command = '', ...rest] = wrap([process.execPath, main, ...args]);
  const child = spawn(command, rest, { stdio, env: { PATH: process.env.PATH, ...env } });
  return { child, exited: ended(child) };
}

describe.each([
  ['an agent', () => agent()],
  ['a reference cloud', cloud],
  ['an embedded Kubernetes API', kubernetes],
  ['an operator', operator],
])('%s', (_, make) => {
  async function worksAndEnds(program: Program, { child, exited }: ReturnType<typeof start>): Promise<void> {
    await Promise.race([program.use(), exited.then((how) => Promise.reject(new Error(`it ended: ${how}`)))]);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  }

  const full = '/dev/full';
  (existsSync(full) ? test : test.skip)('works on a full disk, and ends as it is told to', async () => {
    const fd = openSync(full, 'w');
    undo.push(() => closeSync(fd));
    const program = await make();
    await worksAndEnds(program, start(program, ['ignore', fd, fd]));
  });

  test('works when those who read its output have gone', async () => {
    const program = await make();
    const started = start(program, ['ignore', 'pipe', 'pipe']);
    started.child.stdout?.destroy();
    started.child.stderr?.destroy();
    await worksAndEnds(program, started);
  });

  test('works when nobody reads its output and there is no room for any, and ends as it is told to', async () => {
    const program = await make();
    const { writing, fill } = pipe();
    fill();
    await worksAndEnds(program, start(program, ['ignore', writing, writing]));
  });
});

describe('a terminal', () => {
  const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;
  (hasScript ? test : test.skip)('that stands still, as after Ctrl-S, does not stop an agent', async () => {
    const { writing, dir } = pipe();
    const pidFile = join(dir, 'pid');
    const program = await agent(300);
    // `script` shows on its own output what is written to the terminal that it opens; nobody reads that.
    start(program, ['ignore', writing, writing], (argv) => [
      'script',
      '-qfec',
      `echo $$ > ${pidFile}; exec ${argv.join(' ')}`,
      '/dev/null',
    ]);
    const pid = await until('its pid', () => pidIn(pidFile));
    undo.push(() => process.kill(pid, 'SIGKILL'));
    await program.use();
  });
});

describe('a log', () => {
  /** A process that logs on demand to where `stderr` leads. */
  function flood(stderr: number) {
    const script = join(import.meta.dirname, '../../support/log-flood.ts');
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', stderr, 'ipc'] });
    const exited = ended(child);
    const log = async (lines: number): Promise<number> => {
      const answered = once(child, 'message');
      child.send(lines);
      const [{ rss }] = (await Promise.race([answered, exited.then(() => [{ rss: Number.NaN }])])) as [{ rss: number }];
      return rss;
    };
    return { log, child, exited };
  }

  type Line = { readonly message: string; readonly at?: number; readonly lines?: number };
  const linesOf = (text: string): Line[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  test('of 200 MB that nobody reads holds little, and says then how many lines were lost', async () => {
    const { writing, read } = pipe();
    const { log } = flood(writing);
    const rounds = 400;
    const resident: number[] = [];
    for (let round = 0; round < rounds; round += 1) resident.push(await log(500));
    expect((Math.max(...resident) - (resident[20] ?? 0)) / 1e6).toBeLessThan(100);
    let text = '';
    const lines = await until('the notice', () => {
      text += read();
      return text.endsWith('\n') && linesOf(text).at(-1)?.message !== 'line' && linesOf(text);
    });
    const lost = lines.at(-1)?.lines ?? 0;
    expect(lines.at(-1)).toMatchObject({ level: 'warn', message: 'lines of the log were lost', lines: lost });
    expect(lines.length - 1 + lost).toBe(rounds * 500);
    expect(lines.at(-2)?.at).toBe(lines.length - 1);
  });

  test('that lost its reader goes on with the next one, and says how many lines were lost', async () => {
    const { writing, read, leave, come } = pipe();
    const { log } = flood(writing);
    await log(2);
    const first = await until('the first lines', () => linesOf(read()));
    expect(first).toHaveLength(2);
    leave();
    await log(7);
    await log(3);
    come();
    await log(1);
    const after = await until('the next line', () => {
      const lines = linesOf(read());
      return lines.length > 0 && lines;
    });
    expect(after).toMatchObject([{ message: 'lines of the log were lost', lines: 10 }, { at: 13 }]);
  });
});
