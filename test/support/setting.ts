import type { CloudApiOptions } from '../../src/reference/cloud-api/server.ts';
import { startTestCloud, type TestCloud } from './cloud-api.ts';
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts';
import { secretMark, type World } from './world.ts';

export interface Setting {
  readonly namespace: string;
  readonly cloud: TestCloud;
  /** An operator of the two, which ends with them. */
  start(...args: string[]): OperatorProcess;
}

/**
 * A namespace and a cloud of its own, so that every request that is seen is this test's. Fails when an operator's log or
 * metrics have a secret.
 */
export async function inSetting<T>(
  world: World,
  use: (setting: Setting) => Promise<T>,
  cloudOptions: Partial<CloudApiOptions> = {},
): Promise<T> {
  const [namespace, cloud] = await Promise.all([world.namespace(), startTestCloud(cloudOptions)]);
  const operators: OperatorProcess[] = [];
  const options = { kubeconfig: world.kube.kubeconfig, apiURL: cloud.url, apiKey: cloud.apiKey };
  const start = (...args: string[]) => {
    const operator = startOperatorProcess({ ...options, args: ['--watch-namespaces', namespace, ...args] });
    operators.push(operator);
    return operator;
  };
  try {
    const result = await use({ namespace, cloud, start });
    for (const operator of operators) {
      const written = operator.logs() + (await operator.metrics());
      if ([cloud.apiKey, secretMark].some((secret) => written.includes(secret))) throw new Error('a secret got out');
    }
    return result;
  } finally {
    await Promise.all(operators.map((operator) => operator.stop('SIGKILL')));
    await cloud.stop();
  }
}
