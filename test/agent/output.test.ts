import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { main } from '../support/main.ts';
import { claimPorts } from '../support/ports.ts';
import { until } from '../support/until.ts';
import { type AgentClient, agentClient } from './support.ts';

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

describe('an agent', () => {
  async function agentWith(stdio: StdioOptions, wrap = (argv: readonly string[]) => argv) {
    const { ports, release } = await claimPorts(2);
    undo.push(release);
    const [web, edge] = ports.map((port) => `127.0.0.1:${port}`);
    const [command = '', ...args] = wrap([
      process.execPath,
      main,
      'agent',
      '--web-addr',
      `${web}`,
      '--edge-addr',
      `${edge}`,
    ]);
    const child = spawn(command, args, { stdio, env: { PATH: process.env.PATH } });
    const exited = ended(child);
    return { child, exited, client: agentClient({ url: `http://${web}`, edgeURL: `http://${edge}` }) };
  }

  const up = (client: AgentClient) =>
    until('the agent to serve', async () => (await client.call('GET', '/api/status')).status === 200);

  /** Lines of the log: two for each tunnel, as long as a name can make them. */
  async function log(client: AgentClient, tunnels: number): Promise<void> {
    const name = 'n'.repeat(250);
    for (let at = 0; at < tunnels; at += 1) {
      const { uri } = await client.tunnel({ name: `${name}${at}`, proto: 'http', addr: '1' });
      expect((await client.call('DELETE', uri)).status).toBe(204);
    }
  }

  const full = '/dev/full';
  (existsSync(full) ? test : test.skip)('serves on a full disk, and ends as it is told to', async () => {
    const fd = openSync(full, 'w');
    undo.push(() => closeSync(fd));
    const { child, exited, client } = await agentWith(['ignore', fd, fd]);
    await up(client);
    await log(client, 3);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  test('serves when those who read its output have gone', async () => {
    const { child, exited, client } = await agentWith(['ignore', 'pipe', 'pipe']);
    child.stdout?.destroy();
    child.stderr?.destroy();
    await up(client);
    await log(client, 3);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  test('serves when nobody reads its output, and ends as it is told to', async () => {
    const { writing } = pipe();
    const { child, exited, client } = await agentWith(['ignore', writing, writing]);
    await up(client);
    await log(client, 300);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;
  (hasScript ? test : test.skip)('serves on a terminal that stands still, as after Ctrl-S', async () => {
    const { writing, dir } = pipe();
    const pidFile = join(dir, 'pid');
    // `script` shows on its own output what is written to the terminal that it opens; nobody reads that.
    const { client } = await agentWith(['ignore', writing, writing], (argv) => [
      'script',
      '-qfec',
      `echo $$ > ${pidFile}; exec ${argv.join(' ')}`,
      '/dev/null',
    ]);
    await up(client);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    undo.push(() => process.kill(pid, 'SIGKILL'));
    await log(client, 300);
  });
});

describe('a log', () => {
  /** A process that logs on demand to where `stderr` leads. */
  function flood(stderr: number) {
    const script = join(import.meta.dirname, '../support/log-flood.ts');
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
