import type { AgentConfig } from '../../agent/config.ts';
import { cloudURLForm, isCloudURL } from '../../agent/leases/cloud-url.ts';
import type { CloudTarget } from '../../agent/leases/start-leases.ts';
import { credentialOf } from '../../common/credential/credential.ts';
import { UsageError } from '../../common/usage.ts';

/** Those that the Cloud Management API knows. */
const regions = ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'];

/** @throws UsageError */
export function cloudURL(flag: string | undefined): string | undefined {
  if (flag === undefined || isCloudURL(flag)) return flag;
  throw new UsageError(`--cloud-url must be ${cloudURLForm}`);
}

/** Where the agent registers its endpoints, if anywhere. @throws UsageError */
export function cloudOf({ cloud_url: url, api_key_file: keyFile, region }: AgentConfig): CloudTarget | undefined {
  if (url === undefined) {
    if (keyFile === undefined) return undefined;
    throw new UsageError('--api-key-file (in agent.yml api_key_file) needs --cloud-url (cloud_url)');
  }
  if (!regions.includes(region)) {
    throw new UsageError(`region must be one of ${regions.join(', ')} with --cloud-url, not "${region}"`);
  }
  const credential = credentialOf(keyFile, process.env.EDGE_OPERATOR_API_KEY);
  if (credential !== undefined) return { url, credential };
  throw new UsageError(
    '--cloud-url (in agent.yml cloud_url) needs an API key: --api-key-file or EDGE_OPERATOR_API_KEY',
  );
}
