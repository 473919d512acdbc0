import { join } from 'node:path';
import { createKubeApi } from '../../../src/reference/kube-api/core.ts';
import type { ApiObject } from '../../../src/reference/kube-api/object.ts';
import { loadCrds } from '../../../src/reference/kube-api/types/load-crds.ts';
import { mergePatch } from '../../../src/reference/kube-api/writes/patch.ts';
import { SimProcess } from '../core/process.ts';
import { Chance } from '../core/random.ts';
import { Scheduler } from '../core/scheduler.ts';
import type { Act, Manifest, ObjectRef } from '../core/story.ts';

const options = { dryRun: false, fieldManager: 'test', onUnknown: () => {}, warn: () => {} };
const crds = loadCrds(join(import.meta.dirname, '../../../crds'));

/** The Kubernetes of stories without anything that works in it: what is deleted is gone at once. */
export class BareAPI {
  readonly #scheduler = new Scheduler();
  readonly #kube = createKubeApi({ crds, runtime: new SimProcess('kube', this.#scheduler, new Chance('kube')) });
  readonly #empty = this.#kube.snapshot();
  #start = 0;

  /** Another story begins. */
  reset(): void {
    this.#kube.restore(this.#empty);
    this.#start = this.#scheduler.now;
  }

  close(): void {
    this.#kube.close();
  }

  /** The code of the refusal, if it is refused; 404 where there is nothing to change. Of what is done often, two. */
  async do(act: Act): Promise<number | undefined> {
    await this.#scheduler.run(this.#start + act.at);
    const text = JSON.stringify(act);
    try {
      for (const n of 'times' in act ? ['0', '1'] : ['0']) this.#act(JSON.parse(text.replaceAll('{{n}}', n)));
      return undefined;
    } catch (error) {
      const { code } = error as { readonly code?: number };
      if (code === undefined) throw error;
      return code;
    }
  }

  /** Until namespaces that were deleted are gone. */
  async rest(): Promise<void> {
    await this.#scheduler.run(this.#scheduler.now + 60_000);
  }

  /** All that there are of a kind. */
  all(kind: string): readonly ApiObject[] {
    return this.#kube.store.list(this.#type(kind).storage).map(({ object }) => object);
  }

  #act(act: Act): void {
    if (act.do === 'apply') this.#apply(act.object);
    if (act.do === 'replace') this.#update(refOf(act.object), () => act.object as unknown as ApiObject);
    if (act.do === 'patch') {
      this.#update(act.ref, (current) => mergePatch(current, act.patch) as ApiObject, act.subresource);
    }
    if (act.do === 'copy') this.#copy(act);
    if (act.do === 'delete') this.#kube.objects.delete(this.#type(act.ref.kind), ref(act.ref), {}, false);
  }

  #copy({ from, to, patch = {} }: Extract<Act, { do: 'copy' }>): void {
    const { apiVersion, kind, metadata, spec } = this.#kube.objects.get(this.#type(from.kind), ref(from));
    const { annotations = {} } = metadata;
    this.#apply(mergePatch({ apiVersion, kind, spec, metadata: { ...to, annotations } }, patch) as Manifest);
  }

  #apply(object: Manifest): void {
    const { kind, metadata, ...content } = object;
    const { namespace, annotations = {} } = metadata;
    if (namespace !== undefined && !this.#has('Namespace', { namespace: undefined, name: namespace })) {
      this.#apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    }
    if (!this.#has(kind, ref(refOf(object)))) {
      this.#kube.objects.create(this.#type(kind), object as unknown as ApiObject, options);
      return;
    }
    this.#update(refOf(object), (current) => ({
      ...current,
      ...(content as object),
      metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
    }));
  }

  #update(of: ObjectRef, change: (current: ApiObject) => ApiObject, subresource?: 'status'): void {
    this.#kube.objects.update(this.#type(of.kind), ref(of), { ...options, subresource, change });
  }

  #has(kind: string, { namespace, name }: Pick<ReturnType<typeof ref>, 'namespace' | 'name'>): boolean {
    return this.#kube.objects.find(this.#type(kind), { namespace, name }) !== undefined;
  }

  #type(kind: string) {
    const type = this.#kube.registry.types.find((each) => each.kind === kind);
    if (type === undefined) throw new Error(`${kind} is not served`);
    return type;
  }
}

const ref = ({ namespace, name }: ObjectRef) => ({ namespace, name });

const refOf = ({ kind, metadata: { namespace, name } }: Manifest): ObjectRef => ({
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});
