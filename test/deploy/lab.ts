import type { KubeObject } from '../../src/kube/types.ts';
import type { ManagedObject } from '../../src/reconcile/fields.ts';
import { startTestCloud, type TestCloud } from '../support/cloud-api.ts';
import { startOperatorProcess } from '../support/operator-process.ts';
import type { World } from '../support/world.ts';

/** One namespace with an operator and a cloud of its own, in which one state of every kind is brought about. */
export interface Lab {
  readonly world: World;
  readonly cloud: TestCloud;
  readonly namespace: string;
  apply(kind: string, spec: object, more?: { name?: string; annotations?: object }): Promise<ManagedObject>;
  /** Creates what resources refer to; `data` of a Secret is given as text. */
  give(kind: 'Secret' | 'ConfigMap', name: string, data: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

/** Name of the resource whose status is recorded. */
export const recordedName = 'example';

export async function openLab(world: World, options: { readonly operator: boolean }): Promise<Lab> {
  const [namespace, cloud] = await Promise.all([world.namespace(), startTestCloud()]);
  const operator = options.operator
    ? startOperatorProcess({
        kubeconfig: world.kube.kubeconfig,
        apiURL: cloud.url,
        apiKey: cloud.apiKey,
        args: ['--watch-namespaces', namespace, '--requests-per-minute', '10000'],
      })
    : undefined;
  return {
    world,
    cloud,
    namespace,
    apply: (kind, spec, { name = recordedName, annotations = {} } = {}) =>
      world.apply(kind, namespace, name, spec, annotations),
    async give(kind, name, data) {
      const field = kind === 'Secret' ? 'stringData' : 'data';
      const type = { group: '', version: 'v1', plural: `${kind.toLowerCase()}s`, kind, namespaced: true };
      const body = { apiVersion: 'v1', kind, metadata: { name, namespace }, [field]: data };
      await world.client.create<KubeObject>(type, body as KubeObject);
    },
    async close() {
      await operator?.stop('SIGKILL');
      await cloud.stop();
    },
  };
}
