/**
 * Tools for tests that are written in Go: each folder of test/tools is a Go module that pins one, with every version and
 * checksum; so is a peer of test/bench/peers, or it is a Python program that pins the version of everything it needs. `npm run tools -- [NAME...]` builds what is not yet in the cache (all of
 * test/tools, when none is named) and prints the paths.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const modules = join(import.meta.dirname, '../test/tools');
const peers = join(import.meta.dirname, '../test/bench/peers');

export class ToolError extends Error {
  override name = 'ToolError';
}

/** Path of the executable of test/tools/`name`, built from the Go module proxy when it is not in the cache. */
export async function tool(name: string): Promise<string> {
  if (!toolNames().includes(name)) throw new ToolError(`no tool ${name}; there are: ${toolNames().join(', ')}`);
  return built(name, join(modules, name));
}

/** As `tool`, of test/bench/peers. */
export function peer(name: string): Promise<string> {
  return built(name, join(peers, name));
}

/** The interpreter and the program of test/bench/peers/`name`, with what its requirements.txt names from PyPI. */
export async function pythonPeer(name: string): Promise<readonly [python: string, program: string]> {
  const dir = join(peers, name);
  const path = join(cache(), `${name}-${fingerprint(dir)}`);
  const python = join(path, 'bin/python');
  if (!existsSync(join(path, 'complete'))) {
    await rm(path, { recursive: true, force: true });
    process.stderr.write(`building ${path} (once)\n`);
    await run('python3', dir, ['-m', 'venv', path]);
    await run(python, dir, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', 'requirements.txt']);
    await writeFile(join(path, 'complete'), '');
  }
  return [python, join(dir, 'main.py')];
}

async function built(name: string, dir: string): Promise<string> {
  const path = join(cache(), `${name}-${fingerprint(dir)}`);
  if (!existsSync(path)) await build(dir, path);
  return path;
}

/** Where the modules are that test/tools/`name` requires: fetched, not built. */
export async function sourcesOf(name: string): Promise<readonly string[]> {
  // An object for each, one after another.
  const answer = await go(join(modules, name), ['mod', 'download', '-json']);
  const objects = JSON.parse(`[${answer.replaceAll(/\n}\s*{/g, '\n},{')}]`) as readonly { readonly Dir: string }[];
  return objects.map(({ Dir }) => Dir);
}

export function toolNames(): readonly string[] {
  return readdirSync(modules).filter((name) => packageOf(join(modules, name)) !== undefined);
}

function cache(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'edge-operator', 'tools');
}

/** Of everything that the module pins and adds, so that a changed version or source is another file. */
function fingerprint(dir: string): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(dir).sort()) hash.update(`${file}\0`).update(readFileSync(join(dir, file)));
  return hash.digest('hex').slice(0, 12);
}

/** The package that go.mod names as its tool, or else the module's own program, if it has one. */
function packageOf(dir: string): string | undefined {
  const named = /^tool (\S+)$/m.exec(readFileSync(join(dir, 'go.mod'), 'utf8'))?.[1];
  return named ?? (existsSync(join(dir, 'main.go')) ? '.' : undefined);
}

/** Built beside its place and moved there, so that nobody runs half of it. */
async function build(dir: string, path: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  await mkdir(cache(), { recursive: true });
  process.stderr.write(`building ${path} (once)\n`);
  try {
    await go(dir, ['build', '-trimpath', '-ldflags=-s -w', '-o', unfinished, packageOf(dir) ?? '.']);
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Resolves with what it printed. */
function go(cwd: string, args: readonly string[]): Promise<string> {
  return run('go', cwd, args, { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' });
}

const sources: Readonly<Record<string, string>> = { go: 'https://go.dev/dl', python3: 'https://www.python.org' };

async function run(command: string, cwd: string, args: readonly string[], env = {}): Promise<string> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const output = text(child.stdout);
  const [code] = await once(child, 'exit').catch((error: NodeJS.ErrnoException) => {
    const needed = `needs ${command} on the PATH (${sources[command]}) to build ${cwd}`;
    throw error.code === 'ENOENT' ? new ToolError(needed) : error;
  });
  if (code !== 0) throw new ToolError(`${command} ${args[0]} failed in ${cwd}; it says above why`);
  return output;
}

if (import.meta.main) {
  try {
    const names = process.argv.slice(2);
    for (const name of names.length === 0 ? toolNames() : names) console.log(await tool(name));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    console.error(`error: ${error.message}`);
    process.exitCode = 1;
  }
}
