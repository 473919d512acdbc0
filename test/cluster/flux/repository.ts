import { execFile, spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Repository {
  readonly url: string;
  /** Commits these files, undefined removes one, and puts the tag there. */
  commit(files: Readonly<Record<string, string | undefined>>): Promise<void>;
  /** Id of the last commit. */
  head(): Promise<string>;
  close(): Promise<void>;
}

/** A git repository below `dir`, served over HTTP on loopback by git's own program; what is served is at `tag`. */
export async function startRepository(dir: string, tag: string): Promise<Repository> {
  const work = join(dir, 'repository');
  await mkdir(work, { recursive: true });
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  const git = (...args: readonly string[]) => run('git', ['-C', work, ...who, ...args]);
  await git('init', '--quiet', '--initial-branch=main');
  const server = createServer((request, response) => backend(dir, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/repository/.git`,
    commit: async (files) => {
      for (const [path, text] of Object.entries(files)) {
        const file = join(work, path);
        await mkdir(dirname(file), { recursive: true });
        await (text === undefined ? rm(file) : writeFile(file, text));
      }
      await git('add', '--all');
      await git('commit', '--quiet', '--message', Object.keys(files).join(', '));
      await git('tag', '--force', tag);
    },
    head: async () => (await git('rev-parse', 'HEAD')).stdout.trim(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As a web server runs `git http-backend`: a program that is told of the request by variables (CGI). */
function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://host');
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      HTTP_GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
    },
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const lines = answer.subarray(0, end).toString().split('\r\n');
    const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]);
    const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200';
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
    response.end(answer.subarray(end + 4));
  });
}
