import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { definitions } from '../../src/operator/kinds/index.ts';
import { annotation, finalizer } from '../../src/operator/reconcile/resource/annotations.ts';

const root = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: objects of many shapes
const objectsIn = (path: string): readonly any[] =>
  parseAllDocuments(textOf(path)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });

test('the quota for a tenant bounds every kind', () => {
  const [quota] = objectsIn('deploy/tenancy/resource-quota.yaml');
  expect(quota).toMatchObject({ apiVersion: 'v1', kind: 'ResourceQuota' });
  const counts = definitions.map(({ type }) => `count/${type.plural}.edge-operator.dev`);
  expect(Object.keys(quota.spec.hard)).toEqual(expect.arrayContaining(counts));
  for (const hard of Object.values(quota.spec.hard)) expect(hard).toMatch(/^\d+$/);
});

test('the policy for tenants knows what the operator writes and what people say', () => {
  const [policy, binding] = objectsIn('deploy/tenancy/admission-policy.yaml');
  expect(policy).toMatchObject({ kind: 'ValidatingAdmissionPolicy', spec: { failurePolicy: 'Fail' } });
  expect(binding.spec).toMatchObject({ policyName: policy.metadata.name, validationActions: ['Deny'] });
  const { wishes, theirs } = Object.fromEntries(
    policy.spec.variables.map(({ name, expression }: Record<string, string>) => [name, expression]),
  );
  expect(JSON.parse(wishes)).toEqual([annotation.paused, annotation.reconcileAt, annotation.forceOrphan]);
  expect(theirs).toContain(annotation.externalID);
  expect(finalizer).toMatch(/^edge-operator\.dev\//);
  const page = textOf('docs/tenancy.md');
  for (const name of JSON.parse(wishes)) expect(page).toContain(`\`${name}\``);
});
