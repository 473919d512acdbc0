import type { SettingNames } from '../../agent/agent.ts';
import type { AgentConfig } from '../../agent/config.ts';
import type { CloudTarget } from '../../agent/leases/start-leases.ts';
import { credentialOf } from '../../common/credential/credential.ts';
import { baseURLProblem } from '../../common/http/url.ts';
import { type Address, addressForm, parseAddress } from '../../common/listen.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { UsageError } from '../../common/usage.ts';
import { notEmpty, readText } from '../flags.ts';

export interface AgentRunFlags {
  readonly config?: string;
  readonly webAddr?: string;
  readonly edgeAddr?: string;
  readonly cloudUrl?: string;
  readonly apiKeyFile?: string;
}

/** Those that the Cloud Management API knows. */
const regions = ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'];

/** Flags win over the file. @throws UsageError */
export async function configOf(flags: AgentRunFlags): Promise<AgentConfig> {
  const inFile = await readConfigFile(flags.config);
  return {
    ...inFile,
    web_addr: address('--web-addr', flags.webAddr) ?? inFile.web_addr,
    edge_addr: address('--edge-addr', flags.edgeAddr) ?? inFile.edge_addr,
    cloud_url: cloudURL(flags.cloudUrl) ?? inFile.cloud_url,
    api_key_file: notEmpty('--api-key-file', flags.apiKeyFile) ?? inFile.api_key_file,
  };
}

/** Those that are given by flag, which messages then name. */
export function namesOf({ webAddr, edgeAddr }: AgentRunFlags): SettingNames {
  return {
    ...(webAddr !== undefined && { web_addr: '--web-addr' }),
    ...(edgeAddr !== undefined && { edge_addr: '--edge-addr' }),
  };
}

/** Where the agent registers its endpoints, if anywhere. @throws UsageError */
export async function cloudOf(config: AgentConfig): Promise<CloudTarget | undefined> {
  const { cloud_url: url, api_key_file: keyFile, region } = config;
  if (url === undefined) {
    if (keyFile === undefined) return undefined;
    throw new UsageError('--api-key-file (in agent.yml api_key_file) needs --cloud-url (cloud_url)');
  }
  if (!regions.includes(region)) {
    throw new UsageError(`region must be one of ${regions.join(', ')} with --cloud-url, not "${region}"`);
  }
  const credential = await credentialOf({ keyFile, variable: process.env.EDGE_OPERATOR_API_KEY }, systemRuntime);
  if (credential !== undefined) return { url, credential };
  throw new UsageError(
    '--cloud-url (in agent.yml cloud_url) needs an API key: --api-key-file or EDGE_OPERATOR_API_KEY',
  );
}

async function readConfigFile(file: string | undefined): Promise<AgentConfig> {
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
  if (parsed === undefined) throw new UsageError(`${flag} must be ${addressForm}, not "${text}"`);
  return parsed;
}

function cloudURL(text: string | undefined): string | undefined {
  const problem = text === undefined ? undefined : baseURLProblem(text);
  if (problem === undefined) return text;
  throw new UsageError(`--cloud-url ${problem}`);
}
