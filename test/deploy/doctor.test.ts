import { beforeAll, describe, expect, test } from '@jest/globals';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { neededRights, type Right } from '../../src/operator/doctor/rights.ts';
import { Grants } from './access.ts';
import { only, type Rendered, release, render, type Values } from './helm.ts';
import { matrix } from './matrix.ts';
import { flagsOf, restrictedProblems } from './pods.ts';

/* What `helm test` creates, and that what it asks for is what the chart grants. */

const account = { apiURL: 'https://api.example.com', existingSecret: 'edge-account' };
const hooks = (objects: readonly Rendered[]) =>
  objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test');

describe.each([
  ['in all namespaces', { account }, []],
  ['in two', { account, watchNamespaces: ['team', 'other'] }, ['team', 'other']],
] as const)('the rights that are asked for %s', (_where, values: Values, watchNamespaces) => {
  const accountName = 'edge-edge-operator';
  let grants: Grants;
  beforeAll(async () => {
    const objects = await render(values);
    grants = new Grants(objects, accountName);
  });

  test('are those that the chart grants by default, no more and no less', () => {
    const ownNamespace = release.namespace;
    const rights = neededRights({ watchNamespaces, ownNamespace, mirrorNamespace: ownNamespace, shards: 64 });
    const accessOf = ({ verb, group, resource, subresource, namespace, name }: Right) => ({
      verb,
      group,
      resource: subresource === undefined ? resource : `${resource}/${subresource}`,
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    });
    expect(rights.map(accessOf).filter((access) => !grants.allows(access))).toEqual([]);
    expect(grants.unused()).toEqual([]);
  });
});

describe('helm test', () => {
  test('only looks, unless a namespace for a sample is named', async () => {
    const made = hooks(await render({ account }, { tests: true }));
    expect(made.map(({ kind }) => kind)).toEqual(['Pod']);
    const [pod] = made;
    const [container] = pod?.spec.containers ?? [];
    const operator = only(await render({ account }), 'Deployment').spec.template.spec;
    expect(pod?.spec).toMatchObject({ serviceAccountName: operator.serviceAccountName, restartPolicy: 'Never' });
    expect([container.image, container.volumeMounts, pod?.spec.volumes]).toEqual([
      operator.containers[0].image,
      operator.containers[0].volumeMounts,
      operator.volumes,
    ]);
  });

  test.each(Object.keys(matrix))('looks where the operator works, by flags that both have: %s', async (name) => {
    const objects = await render(matrix[name] ?? {}, { tests: true });
    const [container] = only(hooks(objects), 'Pod').spec.containers;
    const operator = objects.find(({ kind, metadata }) => kind === 'Deployment' && !metadata.name.endsWith('-agent'));
    const given = flagsOf(operator?.spec.template.spec.containers[0]);
    const taken = doctorCommand().options.map(({ long }) => String(long).slice(2));
    const shared = [...given].filter(([flag]) => taken.includes(flag));
    expect(flagsOf(container)).toEqual(new Map<string, unknown>([['exit-code', true], ...shared]));
  });

  test('makes a sample by an account that may do nothing else', async () => {
    const sample = { namespace: 'samples', account: 'acct' };
    const made = hooks(await render({ account, test: { sample } }, { tests: true }));
    expect(made.map(({ kind }) => kind).sort()).toEqual(['Pod', 'Pod', 'Role', 'RoleBinding', 'ServiceAccount']);
    const { spec } = only(made, 'Pod', 'edge-edge-operator-test-sample');
    expect(flagsOf(spec.containers[0])).toEqual(
      new Map<string, unknown>([
        ['exit-code', true],
        ['sample', 'samples'],
        ['sample-account', 'acct'],
      ]),
    );
    const grants = new Grants(made, spec.serviceAccountName);
    const bots = { group: 'edge-operator.dev', resource: 'botusers', namespace: 'samples' };
    for (const verb of ['create', 'get', 'delete']) expect(grants.allows({ ...bots, verb })).toBe(true);
    expect(grants.unused()).toEqual([]);
  });

  test.each(Object.keys(matrix))('passes the restricted pod security standard: %s', async (name) => {
    const [watched = 'samples'] = (matrix[name]?.watchNamespaces as readonly string[] | undefined) ?? [];
    const values = { ...matrix[name], test: { sample: { namespace: watched } } };
    const pods = hooks(await render(values, { tests: true })).filter(({ kind }) => kind === 'Pod');
    expect(pods).toHaveLength(2);
    for (const { spec } of pods) expect(restrictedProblems(spec)).toEqual([]);
  });
});
