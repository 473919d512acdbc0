import { Command } from 'commander';
import type { AgentConfig } from '../../agent/config.ts';
import { type Address, parseAddress } from '../../common/listen.ts';
import { UsageError } from '../../common/usage.ts';
import { version } from '../../common/version.ts';
import { readText } from '../flags.ts';
import { stopSignal } from '../stop-signal.ts';
import { cloudOf, cloudURL } from './cloud.ts';

interface Flags {
  readonly config?: string;
  readonly webAddr?: string;
  readonly edgeAddr?: string;
  readonly cloudUrl?: string;
  readonly apiKeyFile?: string;
}

const help = `The API key may also be in EDGE_OPERATOR_API_KEY.

Example:
  edge-operator agent --config agent.yml --web-addr 127.0.0.1:4040`;

export function agentCommand(): Command {
  return new Command('agent')
    .description('Run the local agent: forward tunnels, capture and replay requests, serve the Local Agent API.')
    .option('--config <file>', 'agent.yml; without it, no tunnels and the defaults')
    .option('--web-addr <host:port>', 'address of the API and the inspector page (default: "127.0.0.1:4040")')
    .option('--edge-addr <host:port>', 'address that http tunnels share (default: a free port on 127.0.0.1)')
    .option('--cloud-url <url>', 'cloud reference server at which endpoints are registered (default: none)')
    .option('--api-key-file <file>', 'file with the API key for it, re-read when it changes')
    .addHelpText('after', `\n${help}`)
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const config = await settings(flags);
  const cloud = cloudOf(config);
  const [{ startAgent }, { createLogger }] = await Promise.all([
    import('../../agent/agent.ts'),
    import('../../common/logger.ts'),
  ]);
  const agent = await startAgent(config, { version, cloud, log: createLogger({ level: 'info', format: 'text' }) });
  const stopped = stopSignal();
  process.stdout.write(`Local Agent API and inspector listening on ${agent.url}, http tunnels on ${agent.edgeURL}\n`);
  await stopped;
  await agent.close();
}

/** Flags win over the file. */
async function settings({ config, webAddr, edgeAddr, cloudUrl, apiKeyFile }: Flags): Promise<AgentConfig> {
  const inFile = await readFileSettings(config);
  return {
    ...inFile,
    web_addr: address('--web-addr', webAddr) ?? inFile.web_addr,
    edge_addr: address('--edge-addr', edgeAddr) ?? inFile.edge_addr,
    cloud_url: cloudURL(cloudUrl) ?? inFile.cloud_url,
    api_key_file: apiKeyFile ?? inFile.api_key_file,
  };
}

async function readFileSettings(file: string | undefined): Promise<AgentConfig> {
  const { parseConfig, readConfig } = await import('../../agent/config.ts');
  if (file === undefined) return readConfig({});
  const text = await readText('--config', file);
  try {
    return readConfig(parseConfig(text));
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--config ${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

function address(flag: string, text: string | undefined): Address | undefined {
  if (text === undefined) return undefined;
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new UsageError(`${flag} must be host:port, not "${text}"`);
  return parsed;
}
