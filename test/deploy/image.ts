import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { promisify } from 'node:util';
import { tool } from '../../scripts/tools.ts';

const run = promisify(execFile);

/** Not below node_modules, where a run keeps its files: there Node runs no TypeScript, and no other user comes. */
export const outside = process.env.OUTER_TMPDIR ?? tmpdir();
export const projectDir = resolve(import.meta.dirname, '../..');

export interface Instruction {
  readonly name: string;
  readonly args: readonly string[];
  readonly from: string;
  readonly shell: boolean;
}

/** What BuildKit makes of Dockerfile and .dockerignore. */
export interface Dockerfile {
  readonly warnings: readonly string[];
  readonly args: readonly string[];
  readonly stages: readonly {
    readonly name: string;
    readonly base: string;
    readonly platform: string;
    readonly commands: readonly Instruction[];
  }[];
  /** Files of the checkout that the build can see. */
  readonly context: readonly string[];
}

export async function readDockerfile(): Promise<Dockerfile> {
  const { stdout } = await run(await tool('dockerfile'), [projectDir], { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}

/** Where the official image of Node has this very program. */
const nodePath = '/usr/local/bin/node';

/**
 * Does what a build does, without containers: each stage is a folder, to which COPY copies what the context shows, and
 * in which RUN runs; that of an image of Node has this Node in it. Resolves with the folder of the last stage, as it is
 * on top of its base image.
 */
export async function buildImage({ stages, context }: Dockerfile): Promise<{ root: string; remove(): Promise<void> }> {
  const dir = await mkdtemp(join(outside, 'edge-operator-image-'));
  await chmod(dir, 0o755);
  for (const [index, { name, base, commands }] of stages.entries()) {
    const root = join(dir, name || String(index));
    await mkdir(root);
    if (base.startsWith('node:')) await cp(process.execPath, join(root, nodePath));
    let cwd = '/';
    for (const instruction of commands) {
      if (instruction.name === 'WORKDIR') cwd = posix.resolve(cwd, instruction.args[0] ?? '');
      await mkdir(join(root, cwd), { recursive: true });
      if (instruction.name === 'RUN') await runIn(join(root, cwd), instruction);
      if (instruction.name !== 'COPY') continue;
      const order = copyOrder(instruction.args, root, cwd);
      if (instruction.from === '') await copyContext(order, context);
      else await copyStage(order, join(dir, instruction.from));
    }
  }
  const root = join(dir, stages.at(-1)?.name || String(stages.length - 1));
  return { root, remove: () => rm(dir, { recursive: true, force: true }) };
}

/** With this very Node first on the PATH, as in the base image. */
async function runIn(cwd: string, { args, shell }: Instruction): Promise<void> {
  const [command = '', ...rest] = shell ? ['sh', '-c', ...args] : args;
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  await run(command, rest, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
}

interface CopyOrder {
  readonly sources: readonly string[];
  /** On this machine. */
  readonly target: string;
  readonly isFolder: boolean;
}

function copyOrder(args: readonly string[], root: string, cwd: string): CopyOrder {
  const path = args.at(-1) ?? '';
  const target = join(root, posix.resolve(cwd, path));
  return { sources: args.slice(0, -1), target, isFolder: path.endsWith('/') || args.length > 2 };
}

async function copyContext({ sources, target, isFolder }: CopyOrder, context: readonly string[]): Promise<void> {
  for (const source of sources) {
    const files = context.filter((file) => file === source || file.startsWith(`${source}/`));
    if (files.length === 0) throw new Error(`COPY ${source}: .dockerignore hides it, or there is no such file`);
    for (const file of files) {
      const inside = file === source ? basename(file) : file.slice(source.length + 1);
      await cp(join(projectDir, file), file === source && !isFolder ? target : join(target, inside));
    }
  }
}

async function copyStage({ sources, target, isFolder }: CopyOrder, from: string): Promise<void> {
  for (const source of sources) {
    const path = join(from, source);
    const isFile = (await stat(path)).isFile();
    await cp(path, isFile && isFolder ? join(target, basename(source)) : target, { recursive: true });
  }
}
