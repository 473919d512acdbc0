import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Agent, startAgent } from '../../agent/agent.ts';
import { readConfig } from '../../agent/config.ts';
import { credentialOf } from '../../common/credential/credential.ts';
import type { Log } from '../../common/log.ts';
import { createLogger } from '../../common/logger.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { version } from '../../common/version.ts';
import { runOperator } from '../../operator/operator.ts';
import { parseSettings } from '../../operator/settings.ts';
import { startCloudApi } from '../../reference/cloud-api/server.ts';
import { loadCrds, startKubeApi } from '../../reference/kube-api/server.ts';
import { packageFile } from '../package-files.ts';
import { startSampleApp } from './sample-app.ts';
import { seeds } from './seeds.ts';

export interface World {
  readonly kubeconfig: string;
  readonly cloudURL: string;
  /** Of the agent's API and its inspector page. */
  readonly agentURL: string;
  /** Where the sample app is. */
  readonly appAddr: string;
  readonly logFile: string;
  /** The key of the account that a sample brings along. */
  readonly stagingKey: string;
}

/** The Kubernetes API, the cloud, a sample app with an agent in front of it, and the operator, on free loopback ports. */
export async function startWorld(dir: string, stack: AsyncDisposableStack): Promise<World> {
  const [apiKey, stagingKey] = [`demo-${randomUUID()}`, `demo-${randomUUID()}`];
  const [kube, cloud, app] = await Promise.all([
    startKubeApi({ crds: await loadCrds(packageFile('crds')) }),
    startCloudApi({ apiKeys: [`default=${apiKey}`, `staging=${stagingKey}`], seeds }),
    startSampleApp(),
  ]);
  for (const part of [kube, cloud, app]) stack.defer(() => part.close());
  const [kubeconfig, logFile] = [join(dir, 'kubeconfig'), join(dir, 'demo.log')];
  await writeFile(kubeconfig, kube.kubeconfig(), { mode: 0o600 });
  const log = createLogger({ level: 'info', format: 'text', stream: createWriteStream(logFile) });
  const agent = await startDemoAgent({ url: cloud.url, apiKey }, log);
  stack.defer(() => agent.close());
  const allowedAgentHosts = new URL(agent.url).host;
  startOperator({ kubeconfig, apiUrl: cloud.url, allowedAgentHosts }, apiKey, log, stack);
  return { kubeconfig, cloudURL: cloud.url, agentURL: agent.url, appAddr: app.addr, logFile, stagingKey };
}

async function startDemoAgent(target: { readonly url: string; readonly apiKey: string }, log: Log): Promise<Agent> {
  const credential = await credentialOf({ variable: target.apiKey }, systemRuntime);
  const cloud = credential && { url: target.url, credential };
  return startAgent(readConfig({ web_addr: '127.0.0.1:0' }), { version, log, cloud });
}

function startOperator(addresses: object, apiKey: string, log: Log, stack: AsyncDisposableStack): void {
  const settings = parseSettings({
    ...addresses,
    metricsAddr: '127.0.0.1:0',
    healthAddr: '127.0.0.1:0',
    resyncInterval: '30s',
    mirrorInterval: '2s',
  });
  const stop = new AbortController();
  const operator = runOperator({ settings, apiKey, log }, stop.signal);
  stack.defer(() => {
    stop.abort();
    return operator;
  });
}
