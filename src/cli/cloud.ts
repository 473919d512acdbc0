import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { baseURLProblem } from '../common/http/url.ts';
import type { Address } from '../common/listen.ts';
import { UsageError } from '../common/usage.ts';
import type { CloudApiOptions } from '../reference/cloud-api/server.ts';
import { announcements } from './announce.ts';
import { collect, notEmpty, port, readText, refusedAddress, wholeNumber } from './flags.ts';
import { stopSignal } from './stop-signal.ts';

interface Flags {
  readonly port: string;
  readonly host: string;
  readonly data?: string;
  readonly apiKey?: readonly string[];
  readonly apiKeyFile?: string;
  readonly seed?: readonly string[];
  readonly rateLimit: string;
  readonly fault?: readonly string[];
  readonly faultControl: boolean;
  readonly baseUrl?: string;
}

const flagsOf = { apiKeys: '--api-key or --api-key-file', data: '--data', seeds: '--seed', faults: '--fault' } as const;

export function cloudCommand(): Command {
  return new Command('cloud')
    .description('Run the cloud reference server: the Cloud Management API, for trying and tests.')
    .option('--port <n>', 'port to listen on; 0 takes a free one', '0')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <file>', 'SQLite file that keeps everything across restarts; without it, memory')
    .option('--api-key <key>', 'key, or account=key; repeatable; without any, one is made and printed', collect)
    .option(
      '--api-key-file <file>',
      'file of keys as for --api-key, one a line; a line that begins with # is a comment',
    )
    .option('--seed <file>', 'YAML of edges, policies and endpoints; repeatable; default: a small set', collect)
    .option('--rate-limit <n>', 'requests of an account in any rolling 60 s; 0 is no limit', '120')
    .option('--fault <spec>', 'fault to inject, e.g. "POST /bot_users status=503 count=2"; repeatable', collect)
    .option('--fault-control', 'record requests; serve /_faults and /_requests, on this machine without a key', false)
    .option('--base-url <url>', 'base of the uri values; default: what the request was sent to')
    .addHelpText('after', '\nExample:\n  edge-operator cloud --port 8090 --data cloud.db --api-key-file keys.txt')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const failures = announcements(process.stderr);
  const options = {
    host: notEmpty('--host', flags.host),
    port: port(flags.port),
    rateLimit: wholeNumber('--rate-limit', flags.rateLimit, 1_000_000),
    baseUrl: flags.baseUrl === undefined ? undefined : httpUrl('--base-url', flags.baseUrl),
    data: notEmpty('--data', flags.data),
    faults: flags.fault ?? [],
    faultControl: flags.faultControl,
    onFailure: (operationId: string, error: unknown) => failures.write(`error: ${operationId}: ${String(error)}\n`),
  };
  const given = [...(flags.apiKey ?? []), ...(await readKeys(flags.apiKeyFile))];
  const apiKeys = given.length > 0 ? given : [`default=${randomBytes(24).toString('base64url')}`];
  const seeds = (flags.seed ?? []).map((file) => notEmpty('--seed', file));
  const api = await start({ ...options, apiKeys }, seeds);
  const made = given.length > 0 ? '' : ` (API key: ${apiKeys[0]?.replace('default=', '')})`;
  const stopped = stopSignal();
  announcements().write(`Cloud Management API listening on ${api.url}${made}\n`);
  await stopped;
  await api.close();
}

async function start(options: CloudApiOptions & Address, seedFiles: readonly string[]) {
  const { startCloudApi } = await import('../reference/cloud-api/server.ts');
  const { SetupError } = await import('../reference/cloud-api/setup-error.ts');
  const { readSeedFile } = await import('../reference/cloud-api/seed/read.ts');
  const { defaultSeed } = await import('../reference/cloud-api/seed/default.ts');
  try {
    const seeds = seedFiles.length > 0 ? await Promise.all(seedFiles.map(readSeedFile)) : [defaultSeed];
    return await startCloudApi({ ...options, seeds });
  } catch (error) {
    if (error instanceof SetupError)
      throw new UsageError(`${flagsOf[error.setting]}: ${error.message}`, { cause: error });
    refusedAddress(error as NodeJS.ErrnoException, options);
    throw error;
  }
}

async function readKeys(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const text = await readText('--api-key-file', file);
  const keys = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (keys.length === 0) throw new UsageError(`--api-key-file ${file} holds no key`);
  return keys;
}

function httpUrl(flag: string, value: string): string {
  const problem = baseURLProblem(value);
  if (problem === undefined) return value;
  throw new UsageError(`${flag} ${problem}`);
}
