import type { KubeRequest } from '../support/kube-api.ts';
import type { Rendered } from './helm.ts';

/* Objects of any kind on a Kubernetes API, found by its discovery. */

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const groupPath = (apiVersion: string) => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);

type Reference = Pick<Rendered, 'apiVersion' | 'kind' | 'metadata'>;

/** Reads and writes objects; each fails with the server's own words. */
export class Objects {
  readonly #request: KubeRequest;

  constructor(request: KubeRequest) {
    this.#request = request;
  }

  /** By server-side apply, with strict field validation. */
  apply(object: Rendered, { dryRun = false } = {}): Promise<Rendered> {
    const query = new URLSearchParams({ fieldManager: 'test', force: 'true', fieldValidation: 'Strict' });
    if (dryRun) query.set('dryRun', 'All');
    const headers = { 'Content-Type': 'application/apply-patch+yaml' };
    return this.#send(object, `?${query}`, { method: 'PATCH', headers, body: JSON.stringify(object) });
  }

  get(object: Reference): Promise<Rendered> {
    return this.#send(object, '', {});
  }

  async exists(object: Reference): Promise<boolean> {
    return this.get(object).then(
      () => true,
      () => false,
    );
  }

  async #send(object: Reference, query: string, init: object): Promise<Rendered> {
    const { kind, metadata } = object;
    const response = await this.#request(`${await this.#path(object)}${query}`, init);
    if (response.ok) return (await response.json()) as Rendered;
    throw new Error(`${kind} ${metadata.name}: ${await response.text()}`);
  }

  async #path({ apiVersion, kind, metadata }: Reference): Promise<string> {
    const response = await this.#request(groupPath(apiVersion));
    const { resources = [] } = (await response.json()) as { resources?: readonly Resource[] };
    const resource = resources.find((each) => each.kind === kind && !each.name.includes('/'));
    if (resource === undefined) throw new Error(`no kind ${kind} in ${apiVersion}`);
    const namespace = resource.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
    return `${groupPath(apiVersion)}${namespace}/${resource.name}/${metadata.name}`;
  }
}
