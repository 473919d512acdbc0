import type { Credential } from '../../common/credential/credential.ts';
import { ApiError } from '../../common/http/errors.ts';
import type { Runtime } from '../../common/runtime.ts';
import { userAgent } from '../../common/version.ts';
import { CloudClient } from '../cloud/client.ts';
import { Limiter } from '../cloud/limiter.ts';
import type { Check, Finding } from './check.ts';

/** Stamps of the cloud and of Kubernetes are compared after a create that was lost. */
const mostSkewMs = 60_000;

export interface AccountOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'dispatcher'> {
  readonly apiURL: string;
  readonly credential: Credential;
}

/** Whether the default account's key is taken, by one request, and whether the clocks agree. */
export function accountCheck({ apiURL, credential, clock, monotonic, dispatcher }: AccountOptions): Check {
  return {
    name: 'account',
    run: async () => {
      const limiter = new Limiter({ monotonic, requestsPerMinute: 1 });
      const client = new CloudClient({
        ...{ clock, monotonic, dispatcher, userAgent },
        baseURL: apiURL,
        apiKey: () => credential.key(),
        limiter: () => limiter,
      });
      try {
        await client.botUsers.list({ limit: 1 }, { priority: 'change' });
        return { at: apiURL, findings: skewFindings(client.serviceTime(), clock.now()) };
      } catch (error) {
        if (!(error instanceof ApiError) || error.reason !== 'Unauthorized') throw error;
        const cure =
          'put a key of the account where --api-key-file names it: by the chart, the Secret of account.existingSecret';
        return { at: apiURL, findings: [{ problem: error.message, cure }] };
      } finally {
        await client.close();
      }
    },
  };
}

function skewFindings(theirs: number | undefined, ours: number): readonly Finding[] {
  const skewMs = Math.abs(ours - (theirs ?? ours));
  if (skewMs <= mostSkewMs) return [];
  return [{ problem: `the clocks are ${Math.round(skewMs / 1_000)} s apart`, cure: 'set the clock of the node' }];
}
