import { type SpawnOptions, spawn } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import { type Fields, KubeConfigError } from './kubeconfig.ts';

/** Headers by their lower-case names. */
type Plugin = () => Promise<{
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Pick<ConnectionOptions, 'cert' | 'key'>;
}>;

/** As long as a person would look on: a plugin may wait for somebody to log in, whom nobody told. */
const mostSeconds = 60;

/**
 * What `exec` and `auth-provider` of a user ask for, by client-node: they run programs and keep tokens until these
 * expire. Undefined for a user without either.
 */
export async function authPlugin(user: Fields, seconds = mostSeconds): Promise<Plugin | undefined> {
  const { exec, 'auth-provider': authProvider } = user;
  if (exec === undefined && authProvider === undefined) return undefined;
  const config = await emptyConfig();
  for (const each of Reflect.get(config, 'authenticators')) {
    // client-node would wait for ever.
    if ('execFn' in each) each.execFn = programOf(seconds);
  }
  // Of the cluster a plugin learns nothing; client-node insists on one.
  const cluster = { name: 'any', server: 'https://any', skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: 'any', exec, authProvider });
  return async () => {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options).catch((error: unknown) => {
      throw new KubeConfigError(`kubeconfig: ${nameOf(user)}: ${problemOf(error, seconds)}`);
    });
    const { cert, key, headers = {} } = options;
    const texts = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value).trim()]);
    return { headers: Object.fromEntries(texts), tls: { ...(cert && { cert }), ...(key && { key }) } };
  };
}

/** Starts a plugin, without anything to read, and ends it when it takes too long, whoever of its own still holds its output. */
function programOf(seconds: number) {
  return (command: string, args: readonly string[] = [], options: SpawnOptions = {}) => {
    const bounds = { timeout: seconds * 1_000, killSignal: 'SIGKILL' } as const;
    const child = spawn(command, args, { ...options, ...bounds, stdio: ['ignore', 'pipe', 'pipe'] });
    child.once('exit', (code) => {
      if (code === null) for (const output of [child.stdout, child.stderr]) output.destroy();
    });
    return child;
  };
}

/** As the kubeconfig has it. */
function nameOf({ exec, 'auth-provider': authProvider }: Fields): string {
  const { command, name } = (exec ?? authProvider ?? {}) as Fields;
  return exec === undefined ? `auth-provider ${name}` : `exec ${command}`;
}

/** What a plugin printed is not repeated, as messages of the JSON parser do: it may be a credential. */
function problemOf(error: unknown, seconds: number): string {
  if (error instanceof SyntaxError || error instanceof TypeError) return 'gave no credentials that can be read';
  const { code, message = '' } = error as Partial<NodeJS.ErrnoException>;
  if (code === 'ENOENT') return 'no such program: install it, or have its folder on the PATH';
  if (code === 'EACCES') return 'may not be executed';
  return message.trim() || `failed, or gave no answer in ${seconds} s, and did not say why`;
}

/** Imported here, not at the top: it costs a third of a second, which only those should pay who need it. */
async function emptyConfig(): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  return new KubeConfig();
}
