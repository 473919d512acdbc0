import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Nginx {
  readonly port: number;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/** nginx in front of a local port, with one worker as a Node process has one thread; undefined where there is none. */
export async function startNginx(upstream: number): Promise<Nginx | undefined> {
  if (spawnSync('nginx', ['-v']).error !== undefined) return undefined;
  const dir = await mkdtemp(join(tmpdir(), 'bench-nginx-'));
  const port = await freePort();
  await writeFile(join(dir, 'nginx.conf'), settings(dir, port, upstream));
  const nginx = spawn('nginx', ['-p', dir, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  while (!(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 50));
  const stop = async () => {
    const ended = once(nginx, 'exit');
    nginx.kill();
    await ended;
    await rm(dir, { recursive: true, force: true });
  };
  return { port, pid: nginx.pid, stop };
}

const settings = (dir: string, port: number, upstream: number) => `
daemon off; master_process off; pid ${dir}/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log ${dir}/access.log;
  client_body_temp_path ${dir}; proxy_temp_path ${dir}; fastcgi_temp_path ${dir}; uwsgi_temp_path ${dir}; scgi_temp_path ${dir};
  upstream local { server 127.0.0.1:${upstream}; keepalive 64; }
  server {
    listen 127.0.0.1:${port}; keepalive_requests 1000000;
    location / { proxy_pass http://local; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; }
  }
}
`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const answers = (port: number) =>
  fetch(`http://127.0.0.1:${port}/1`).then(
    () => true,
    () => false,
  );
