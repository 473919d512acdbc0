import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { annotation } from '../../src/reconcile/annotations.ts';
import { kubeconfigThrough, type ProxiedRequest, type Side, startGateProxy } from '../support/gate-proxy.ts';
import { startOperatorProcess } from '../support/operator-process.ts';
import { startWorld, type World } from '../support/world.ts';
import { type KindCase, kindCases } from './kinds.ts';

/*
 * The operator is killed with SIGKILL at every step of a create, and started again: exactly one external object must
 * come of it. Each case has its own operator and namespace; all of them run side by side.
 */

interface Step {
  readonly name: string;
  readonly at: 'kubernetes' | 'cloud';
  readonly side: Side;
  readonly matches: (request: ProxiedRequest) => boolean;
}

const patchOf = (text: string) => (request: ProxiedRequest) =>
  request.method === 'PATCH' && request.body.includes(text);
const isIntent = (request: ProxiedRequest) => patchOf('"nonce')(request) || patchOf('\\"nonce')(request);
const isRecord = patchOf(`"${annotation.createdID}":"`);
const isStatus = (request: ProxiedRequest) => request.method === 'PATCH' && request.path.includes('/status');
const isPost = (request: ProxiedRequest) => request.method === 'POST';

const steps: readonly Step[] = [
  { name: 'before the intent is written', at: 'kubernetes', side: 'before', matches: isIntent },
  { name: 'after the intent is written', at: 'kubernetes', side: 'after', matches: isIntent },
  { name: 'before the POST', at: 'cloud', side: 'before', matches: isPost },
  { name: 'after the POST', at: 'cloud', side: 'after', matches: isPost },
  { name: 'before the id is recorded', at: 'kubernetes', side: 'before', matches: isRecord },
  { name: 'after the id is recorded', at: 'kubernetes', side: 'after', matches: isRecord },
  { name: 'before the status is written', at: 'kubernetes', side: 'before', matches: isStatus },
  { name: 'after the status is written', at: 'kubernetes', side: 'after', matches: isStatus },
];

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe.each(kindCases)('$kind', (kind) => {
  test.concurrent.each(steps)(
    'killed $name: exactly one object',
    async (step) => {
      const { objects, id, ready } = await killAt(step, kind);
      expect(objects).toEqual([id]);
      expect(ready).toBe('True');
    },
    60_000,
  );
});

interface Result {
  readonly objects: readonly string[];
  readonly id: unknown;
  readonly ready: string | undefined;
}

async function killAt(step: Step, { kind, path, spec }: KindCase): Promise<Result> {
  const namespace = await world.namespace();
  const unique = `${namespace} ${step.name}`;
  const content = kind === 'ReservedAddr' ? { description: unique } : { name: unique };
  const [kube, cloud] = await Promise.all([startGateProxy(world.kube.url), startGateProxy(world.cloud.url)]);
  const config = kubeconfigThrough(kube, world.kube.kubeconfig);
  const options = { kubeconfig: config.path, apiURL: cloud.url, apiKey: world.cloud.apiKey };
  const args = ['--watch-namespaces', namespace];
  const held = (step.at === 'kubernetes' ? kube : cloud).hold(step.side, step.matches);
  const doomed = startOperatorProcess({ ...options, args });
  const object = await world.apply(kind, namespace, 'a', { ...spec, ...content });
  await held;
  await doomed.stop('SIGKILL');

  const heir = startOperatorProcess({ ...options, args });
  try {
    const ready = await world.reason(object, 'Available', 40_000);
    const { body } = await world.cloud.call('GET', path);
    const mine = (Object.values(body).find(Array.isArray) as Record<string, string>[]).filter(
      (external) => (external.description ?? external.name) === unique,
    );
    return {
      objects: mine.map((external) => external.id ?? ''),
      id: ready.status?.id,
      ready: ready.status?.conditions?.find((condition) => condition.type === 'Ready')?.status,
    };
  } finally {
    await heir.stop('SIGKILL');
    await Promise.all([kube.close(), cloud.close()]);
    config.remove();
  }
}
