import { silentLog } from '../../src/common/log.ts';
import { definitions } from '../../src/operator/kinds/index.ts';
import { KubeClient } from '../../src/operator/kube/client.ts';
import { connect } from '../../src/operator/kube/connection.ts';
import type { KubeObject, ResourceType } from '../../src/operator/kube/types.ts';
import { configMapType } from '../../src/operator/mirror/config-map.ts';
import { type Condition, conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import type { CloudApiOptions } from '../../src/reference/cloud-api/server.ts';
import { startTestCloud } from './cloud-api.ts';
import { isInMemory, testRuntime } from './in-memory.ts';
import { startTestKubeApi, type TestKubeApiOptions } from './kube-api.ts';
import { startOperatorInMemory } from './operator-in-memory.ts';
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts';
import { patient } from './patient.ts';
import { until } from './until.ts';

const eventsType: ResourceType = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
};
export const namespaceType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
export const secretType: ResourceType = { ...namespaceType, plural: 'secrets', kind: 'Secret', namespaced: true };

/** Stands in every webhook secret and SAML document of the scenarios. */
export const secretMark = 'CANARY-of-a-secret';

export type World = Awaited<ReturnType<typeof startWorld>>;

/** A Kubernetes API (embedded, or the real one), the reference cloud, and as many operators as a test starts. */
export async function startWorld(
  cloudOptions: Partial<CloudApiOptions> = {},
  kubeOptions: Pick<TestKubeApiOptions, 'crds' | 'scripts'> = {},
) {
  const [kube, cloud] = await Promise.all([
    startTestKubeApi({ crds: 'project', runtime: testRuntime, ...kubeOptions }),
    startTestCloud({ runtime: testRuntime, ...cloudOptions }),
  ]);
  const connection = patient(
    await connect({ ...testRuntime, kubeconfig: kube.kubeconfig, userAgent: 'test', log: silentLog }),
  );
  const client = new KubeClient(connection, testRuntime);
  const operators: OperatorProcess[] = [];
  let namespaces = 0;

  /** Where an API key, or anything that a test marked as secret, can be read. */
  async function findLeaks(): Promise<readonly string[]> {
    const events = client.listAll<KubeObject>(eventsType);
    const lists = definitions.map(({ type }) => client.listAll<ManagedObject>(type));
    const statuses = (await Promise.all(lists)).flatMap(({ items }) => items.map(({ status }) => status));
    const written: Record<string, string> = {
      events: JSON.stringify((await events).items),
      statuses: JSON.stringify(statuses),
      logs: operators.map((operator) => operator.logs()).join(''),
      metrics: (await Promise.all(operators.map((operator) => operator.metrics()))).join(''),
    };
    const secrets = [cloud.apiKey, secretMark];
    return Object.keys(written).filter((where) => secrets.some((secret) => written[where]?.includes(secret)));
  }

  async function events(object: ManagedObject): Promise<readonly EventObject[]> {
    const { items } = await client.listAll<EventObject>(eventsType, { namespace: object.metadata.namespace });
    return items.filter((event) => event.regarding?.uid === object.metadata.uid);
  }

  return {
    kube,
    cloud,
    client,

    startOperator(args: readonly string[] = []): OperatorProcess {
      const start = isInMemory ? startOperatorInMemory : startOperatorProcess;
      const operator = start({
        kubeconfig: kube.kubeconfig,
        apiURL: cloud.url,
        apiKey: cloud.apiKey,
        args,
      });
      operators.push(operator);
      return operator;
    },

    /** A namespace of its own for each test, so that none sees another's resources. */
    async namespace(): Promise<string> {
      namespaces += 1;
      const name = `t${namespaces}-${process.pid}`;
      await client.create<KubeObject>(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      return name;
    },

    async apply(
      kind: string,
      namespace: string,
      name: string,
      spec: object,
      annotations: object = {},
    ): Promise<ManagedObject> {
      const body = { apiVersion: 'edge-operator.dev/v1alpha1', kind, metadata: { name, namespace, annotations }, spec };
      return client.patch(
        typeOf(kind),
        { name, namespace },
        { type: 'apply', body, fieldManager: 'test', force: true },
      );
    },

    /** Makes or changes what resources refer to. */
    async give(
      kind: 'Secret' | 'ConfigMap',
      namespace: string,
      name: string,
      data: Readonly<Record<string, string>>,
    ): Promise<void> {
      const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
      const body = {
        apiVersion: 'v1',
        kind,
        metadata: { name, namespace },
        data: kind === 'Secret' ? Object.fromEntries(encoded) : data,
      };
      const type = kind === 'Secret' ? secretType : configMapType;
      await client.patch(type, { name, namespace }, { type: 'apply', body, fieldManager: 'test', force: true });
    },

    async annotate(
      object: ManagedObject,
      annotations: Readonly<Record<string, string | null>>,
    ): Promise<ManagedObject> {
      return client.patch(typeOf(object.kind), object.metadata, { type: 'merge', body: { metadata: { annotations } } });
    },

    /** As `kubectl replace` does, of the object as it was read: what the manifest does not have is gone, but for the status. */
    async replace({ kind, apiVersion, metadata }: ManagedObject, spec: object): Promise<void> {
      const { name, namespace, resourceVersion } = metadata;
      const manifest = { apiVersion, kind, metadata: { name, namespace, resourceVersion }, spec };
      await client.update(typeOf(kind), manifest as KubeObject);
    },

    get: (object: ManagedObject) => client.get<ManagedObject>(typeOf(object.kind), object.metadata),

    async list(kind: string, namespace: string): Promise<readonly ManagedObject[]> {
      return (await client.listAll<ManagedObject>(typeOf(kind), { namespace })).items;
    },

    async delete(object: ManagedObject): Promise<void> {
      await client.delete(typeOf(object.kind), object.metadata);
    },

    async gone(object: ManagedObject, timeoutMs?: number): Promise<void> {
      const probe = async () => (await client.get(typeOf(object.kind), object.metadata)) === undefined;
      await until(`${object.kind} ${object.metadata.name} to be gone`, probe, timeoutMs);
    },

    /** Waits until Ready says `reason` of the object's newest generation. */
    async reason(object: ManagedObject, reason: string, timeoutMs?: number): Promise<ManagedObject> {
      let last: Condition | undefined;
      const probe = async () => {
        const found = await client.get<ManagedObject>(typeOf(object.kind), object.metadata);
        last = found && conditionOf(found, 'Ready');
        const current = last?.reason === reason && last.observedGeneration === found?.metadata.generation;
        return current ? found : undefined;
      };
      return until(`${object.kind} ${object.metadata.name} to be ${reason}`, probe, timeoutMs).catch((error) => {
        throw new Error(`${error.message}; Ready: ${JSON.stringify(last)}`);
      });
    },

    events,

    /** Waits for so many events of this reason: they are written in the background, one after another. */
    eventsOf: (object: ManagedObject, reason: string, atLeast = 1): Promise<readonly EventObject[]> =>
      until(`${atLeast} events ${reason}`, async () => {
        const found = (await events(object)).filter((event) => event.reason === reason);
        return found.length >= atLeast && found;
      }),

    /** Ends everything, after a look for secrets wherever the operator writes; fails when it finds one. */
    async stop(): Promise<void> {
      const leaks = await findLeaks();
      await Promise.all(operators.map((operator) => operator.stop('SIGKILL')));
      await connection.close();
      await Promise.all([kube.stop(), cloud.stop()]);
      if (leaks.length > 0) throw new Error(`a secret got into ${leaks.join(', ')}`);
    },
  };
}

/** So that creation times, which have whole seconds, tell which is older. */
export const nextSecond = ({ metadata }: ManagedObject) =>
  until('a later second', () => testRuntime.clock.now() - Date.parse(metadata.creationTimestamp ?? '') > 1_100);

interface EventObject extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly type: string;
  readonly regarding?: { readonly uid?: string };
}

function typeOf(kind: string): ResourceType {
  const found = definitions.find((definition) => definition.type.kind === kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found.type;
}
