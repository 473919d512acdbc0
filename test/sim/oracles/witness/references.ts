import { keyRefOf } from './accounts.ts';
import { fieldsOf } from './json.ts';
import type { Resource } from './resource.ts';

/** A key of a Secret or ConfigMap of its own namespace that a resource reads. */
export interface Reference {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  readonly key: string;
}

export function referencesOf({ kind, version }: Resource): readonly Reference[] {
  const { policyFrom, saml, webhookVerification } = version.spec;
  const idp = fieldsOf(fieldsOf(saml).idpMetadataFrom);
  const own = kind === 'CloudAccount' ? [{ kind: 'Secret' as const, ...keyRefOf(version) }] : [];
  const refs: readonly (readonly [Reference['kind'], unknown])[] = [
    ['ConfigMap', fieldsOf(policyFrom).configMapKeyRef],
    ['ConfigMap', idp.configMapKeyRef],
    ['Secret', idp.secretKeyRef],
    ['Secret', fieldsOf(webhookVerification).secretRef],
  ];
  const found = refs.flatMap(([of, ref]) => {
    const { name, key } = fieldsOf(ref);
    return ref === undefined ? [] : [{ kind: of, name: String(name), key: String(key) }];
  });
  return [...own, ...found];
}
