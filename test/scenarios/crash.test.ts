import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { kubeconfigThrough, type ProxiedRequest, type Side, startGateProxy } from '../support/gate-proxy.ts';
import { startOperatorProcess } from '../support/operator-process.ts';
import { startWorld, type World } from '../support/world.ts';
import { identifiedCases, parentsOf, specOf } from './kinds.ts';

/*
 * The operator is killed with SIGKILL at every step of a create, and started again: exactly one external object must
 * come of it. One operator of each kind hangs at every step at once, with a resource for each.
 */

interface Step {
  readonly name: string;
  readonly at: 'kubernetes' | 'cloud';
  readonly side: Side;
  readonly matches: (request: ProxiedRequest) => boolean;
}

const patchOf = (text: string) => (request: ProxiedRequest) =>
  request.method === 'PATCH' && request.body.includes(text);
const isIntent = patchOf('\\"content\\":');
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

/** Nothing here has a parent. */
const parents = parentsOf(0);

let world: World;
let results: ReadonlyMap<string, Results>;
beforeAll(async () => {
  world = await startWorld();
  results = new Map(
    await Promise.all(identifiedCases.map(async (kind) => [kind.kind, await killAtEveryStep(kind)] as const)),
  );
}, 120_000);
afterAll(() => world.stop());

describe.each(identifiedCases)('$kind', ({ kind }) => {
  test.each(steps)('killed $name: exactly one object', ({ name }) => {
    const { shown, made } = results.get(kind)?.get(name) ?? {};
    expect(shown).toEqual(expect.any(String));
    expect(made).toEqual([shown]);
  });
});

interface Result {
  /** The id in the status, once that is Available. */
  readonly shown: unknown;
  /** Ids of all that came of the resource. */
  readonly made: readonly string[];
}

/** By the names of the steps. */
type Results = ReadonlyMap<string, Result>;

async function killAtEveryStep(row: (typeof identifiedCases)[number]): Promise<Results> {
  const { kind, label, externals } = row;
  const spec = specOf(row, parents, externals);
  const [namespace, kube, cloud] = await Promise.all([
    world.namespace(),
    startGateProxy(world.kube.url),
    startGateProxy(world.cloud.url),
  ]);
  const config = kubeconfigThrough(kube, world.kube.kubeconfig);
  const options = { kubeconfig: config.path, apiURL: cloud.url, apiKey: world.cloud.apiKey };
  const args = ['--watch-namespaces', namespace, '--concurrency', String(steps.length)];
  const create = async ({ at, side, matches }: Step, index: number) => {
    const unique = `${namespace}-s${index}`;
    const concerns = (request: ProxiedRequest) => `${request.path} ${request.body}`.includes(unique);
    const held = (at === 'kubernetes' ? kube : cloud).hold(side, (request) => matches(request) && concerns(request));
    const object = await world.apply(kind, namespace, unique, { ...spec, [label.spec]: unique });
    await held;
    return object;
  };
  const doomed = startOperatorProcess({ ...options, args });
  const objects = await Promise.all(steps.map(create)).finally(() => doomed.stop('SIGKILL'));

  const heir = startOperatorProcess({ ...options, args });
  try {
    const ready = await Promise.all(objects.map((object) => world.reason(object, 'Available', 60_000)));
    const { body } = await world.cloud.call('GET', externals[0]?.path(parents) ?? '');
    const external = Object.values(body).find(Array.isArray) as Record<string, string>[];
    const madeFor = (name: string) => external.filter((each) => each[label.body] === name);
    const resultOf = ({ metadata, status }: ManagedObject): Result => ({
      shown: status?.id,
      made: madeFor(metadata.name).map(({ id = '' }) => id),
    });
    return new Map(steps.map(({ name }, index) => [name, resultOf(ready[index] as ManagedObject)]));
  } finally {
    await heir.stop('SIGKILL');
    await Promise.all([kube.close(), cloud.close()]);
    config.remove();
  }
}
