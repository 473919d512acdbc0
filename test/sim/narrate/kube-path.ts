import { resources } from '../core/run.ts';

/** What a path of the Kubernetes API is about. */
export interface KubeTarget {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const kinds = new Map(Object.entries(resources).map(([kind, [, plural]]) => [plural, kind]));

export function targetOf(path: string): KubeTarget | undefined {
  const [plain = ''] = path.split('?');
  const pattern = /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;
  const [, namespace, plural = '', name, subresource] = pattern.exec(plain) ?? [];
  if (plural === '') return undefined;
  return { kind: kinds.get(plural) ?? plural, namespace, name, subresource };
}

/** As people write it: `ReservedAddr team-a/x`. */
export function nameOfTarget({ kind, namespace, name }: KubeTarget): string {
  const full = [namespace, name].filter((part) => part !== undefined).join('/');
  return full === '' ? kind : `${kind} ${full}`;
}
