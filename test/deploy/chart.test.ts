import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { parseConfig, readConfig } from '../../src/agent/config.ts';
import { version } from '../../src/common/version.ts';
import { definitions } from '../../src/operator/kinds/index.ts';
import { parseSettings, settingsHelp } from '../../src/operator/settings.ts';
import { chartDir, helm, only, type Rendered, release, render, type Values } from './helm.ts';
import { matrix } from './matrix.ts';
import { containerOf, flagsOf, restrictedProblems } from './pods.ts';

/* The chart, as Helm renders it: no cluster is needed. */

const crdsDir = join(import.meta.dirname, '../../crds');
/** What neither Helm deletes, nor Argo CD, also where it is no longer rendered. */
const kept = { 'helm.sh/resource-policy': 'keep', 'argocd.argoproj.io/sync-options': 'Prune=false' };
const readYaml = (path: string) => parse(readFileSync(path, 'utf8'));
const operatorOf = (objects: readonly Rendered[]) =>
  objects.find(({ kind, metadata }) => kind === 'Deployment' && !metadata.name.endsWith('-agent')) as Rendered;

let rendered: ReadonlyMap<string, readonly Rendered[]>;
const of = (name: string) => rendered.get(name) ?? [];

beforeAll(async () => {
  const entries = Object.entries(matrix).map(async ([name, values]) => [name, await render(values)] as const);
  rendered = new Map(await Promise.all(entries));
});

describe.each(Object.keys(matrix))('with %s', (name) => {
  test('helm lint --strict has nothing to say', async () => {
    await helm(['lint', '--strict', '--quiet', chartDir], { values: matrix[name] ?? {} });
  });

  test('the operator is started with flags that it takes', () => {
    const flags = flagsOf(containerOf(operatorOf(of(name))));
    const settings = settingsHelp().map((setting) => ({ ...setting, value: flags.get(setting.flag.slice(2)) }));
    const given = settings.filter(({ value }) => value !== undefined);
    expect(given).toHaveLength(flags.size);
    expect(() => parseSettings(Object.fromEntries(given.map(({ name: key, value }) => [key, value])))).not.toThrow();
  });

  test('every pod passes the restricted standard', () => {
    const pods = of(name).filter(({ kind }) => kind === 'Deployment');
    expect(pods.flatMap(({ spec }) => restrictedProblems(spec.template.spec))).toEqual([]);
  });

  test('every object has a name of its own, the labels of the release, and names no longer than Kubernetes takes', () => {
    const ids = of(name).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { metadata } of of(name)) {
      expect(metadata.name.length).toBeLessThanOrEqual(63);
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/instance': release.name,
        'app.kubernetes.io/managed-by': 'Helm',
        'app.kubernetes.io/version': version,
      });
    }
  });

  test('every container is started as the image says', () => {
    const entry = /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8'))?.[1];
    const commands = of(name)
      .filter(({ kind }) => kind === 'Deployment')
      .map((deployment) => containerOf(deployment).command);
    for (const command of commands) expect(command).toEqual(JSON.parse(entry ?? ''));
    expect(commands.flat()).toContain('--disable-sigusr1');
  });

  test('an API key stands in Secrets alone', () => {
    const others = of(name).filter(({ kind }) => kind !== 'Secret');
    const base64 = Buffer.from('canary-key').toString('base64');
    const texts = others.map((object) => JSON.stringify(object));
    expect(texts.filter((text) => text.includes('canary-key') || text.includes(base64))).toEqual([]);
  });

  test('whatever selects pods selects those of one Deployment', () => {
    const pods = of(name)
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec.template.metadata.labels);
    const selectors = of(name).flatMap(({ kind, spec }) => {
      if (kind === 'Service') return [spec.selector];
      if (kind === 'Deployment' || kind === 'PodDisruptionBudget') return [spec.selector.matchLabels];
      return kind === 'NetworkPolicy' ? [spec.podSelector.matchLabels] : [];
    });
    for (const selector of selectors) {
      const matching = pods.filter((labels) => Object.keys(selector).every((key) => labels[key] === selector[key]));
      expect(matching).toHaveLength(1);
    }
  });

  test('roles are given to the operator, and there is none for nobody', () => {
    const account = operatorOf(of(name)).spec.template.spec.serviceAccountName;
    const bindings = of(name).filter(({ kind }) => kind.endsWith('RoleBinding'));
    for (const { subjects } of bindings)
      expect(subjects).toEqual([{ kind: 'ServiceAccount', name: account, namespace: release.namespace }]);
    const key = (kind: string, { name: role, namespace }: { name: string; namespace?: string }) =>
      `${kind} ${namespace ?? ''}/${role}`;
    const bound = bindings.map(({ roleRef, metadata }) => key(roleRef.kind, { ...metadata, name: roleRef.name }));
    const roles = of(name).filter(({ kind, metadata }) => /Role$/.test(kind) && !/-(view|edit)$/.test(metadata.name));
    expect(roles.map(({ kind, metadata }) => key(kind, metadata)).sort()).toEqual(bound.sort());
  });
});

describe('flags', () => {
  test('every setting can be set, but for those that a pod has no use for', () => {
    const used = [...rendered.values()].flatMap((objects) => [...flagsOf(containerOf(operatorOf(objects))).keys()]);
    const unused = settingsHelp()
      .map(({ flag }) => flag.slice(2))
      .filter((flag) => !used.includes(flag));
    expect(unused).toEqual(['kubeconfig', 'leader-elect-namespace']);
  });

  test('lists, numbers and durations arrive as they were written', () => {
    expect(Object.fromEntries(flagsOf(containerOf(operatorOf(of('everything')))))).toMatchObject({
      shards: '12',
      'allowed-api-hosts': 'c.example.com,[::1]:8443',
      concurrency: '1000',
      'resync-interval': '1h',
      'requests-per-minute': '120',
      'mirror-interval': '30s',
    });
  });

  test("the hosts of the chart's own accounts are allowed", () => {
    const flags = flagsOf(containerOf(operatorOf(of('more accounts'))));
    expect(flags.get('allowed-api-hosts')).toBe('c.example.com,b.example.com:8443');
    const near = flagsOf(containerOf(operatorOf(of('only accounts'))));
    expect(near.get('allowed-api-hosts')).toBe('b.example.com,http://cloud.team.svc:8000');
  });

  test('an address is one flag, whatever its path ends with', async () => {
    const documents = await render({ account: { ...account, apiURL: 'https://[fd00::1]:8443/a:' } });
    expect(flagsOf(containerOf(operatorOf(documents))).get('api-url')).toBe('https://[fd00::1]:8443/a:');
  });

  test.each(['0s', '0.4ms', '0', 0])('an interval of %j is never, as the operator has it', async (interval) => {
    const documents = await render({ account, endpointMirror: { interval } });
    const flags = flagsOf(containerOf(operatorOf(documents)));
    expect(parseSettings({ mirrorInterval: flags.get('mirror-interval') })).toMatchObject({ mirrorInterval: 0 });
    expect(documents.filter(({ metadata }) => metadata.name.endsWith('-mirror'))).toEqual([]);
  });

  test('without a default account there is no key, no mirror, and no volume', () => {
    const { volumes, containers } = operatorOf(of('defaults')).spec.template.spec;
    expect([volumes, containers[0].volumeMounts]).toEqual([undefined, undefined]);
    expect(flagsOf(containers[0]).get('mirror-interval')).toBe('0');
  });

  test('accounts that share a key have a budget without a default account too', () => {
    expect(flagsOf(containerOf(operatorOf(of('only accounts')))).get('requests-per-minute')).toBe('120');
  });
});

describe('the definitions', () => {
  test('are those of crds/, kept or not', () => {
    const files = readdirSync(crdsDir).sort();
    for (const [name, keep] of [
      ['defaults', kept],
      ['definitions that go', undefined],
    ] as const) {
      const found = of(name).filter(({ kind }) => kind === 'CustomResourceDefinition');
      expect(found.map(({ metadata }) => metadata.annotations)).toEqual(files.map(() => keep));
      expect(found.map(({ spec }) => spec)).toEqual(files.map((file) => readYaml(join(crdsDir, file)).spec));
    }
  });

  test('are without what Kubernetes 1.29 refuses', async () => {
    const found = await render({}, { kubernetes: '1.29.14' });
    const definitions = found.filter(({ kind }) => kind === 'CustomResourceDefinition');
    const versions = (each: Rendered) =>
      each.spec.versions.map(({ selectableFields: _, ...version }: object & { selectableFields?: unknown }) => version);
    const newer = of('defaults').filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(definitions.map(({ spec }) => spec.versions)).toEqual(newer.map(versions));
  });

  test('are left out on demand', () => {
    const kinds = of('nothing that another makes').map(({ kind }) => kind);
    expect(kinds).toEqual(['Deployment']);
  });
});

describe('roles', () => {
  const grants = (name: string, resource: string) =>
    of(name)
      .filter(({ kind, metadata }) => /Role$/.test(kind) && !/-(view|edit)$/.test(metadata.name))
      .flatMap(({ kind, metadata, rules }) =>
        rules
          .filter((rule: { resources: string[] }) => rule.resources.includes(resource))
          .map((rule: { verbs: string[] }) => `${kind} ${metadata.namespace ?? '*'}: ${rule.verbs.join()}`),
      )
      .sort();
  const write = 'get,list,watch,create,update,delete';

  test('with namespaces given, nothing reaches beyond them and the release', () => {
    const objects = of('two namespaces');
    expect(objects.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([]);
    const namespaces = new Set(objects.filter(({ kind }) => kind === 'Role').map(({ metadata }) => metadata.namespace));
    expect([...namespaces].sort()).toEqual(['edge-system', 'other', 'team']);
    expect(grants('two namespaces', 'secrets')).toEqual([
      'Role other: list,watch,patch',
      'Role team: list,watch,patch',
    ]);
  });

  test('ConfigMaps are written only where endpoints are mirrored', () => {
    const read = 'ClusterRole *: list,watch';
    expect(grants('defaults', 'configmaps')).toEqual([read]);
    expect(grants('a Secret of the user', 'configmaps')).toEqual([read, `Role edge-system: ${write}`]);
    expect(grants('more accounts', 'configmaps')).toEqual([read, `Role edge-system: ${write}`, `Role team: ${write}`]);
    expect(grants('mirrors of all accounts', 'configmaps')).toEqual([`ClusterRole *: ${write}`]);
    expect(grants('no mirrors', 'configmaps')).toEqual([read]);
    expect(grants('the default mirror only', 'configmaps')).toEqual([
      'ClusterRole *: list,watch',
      `Role team: ${write}`,
    ]);
    expect(grants('two namespaces', 'configmaps')).toEqual([`Role other: ${write}`, `Role team: ${write}`]);
  });

  test.each<[object | undefined, boolean]>([
    [{}, true],
    [{ protocols: ['tcp'] }, true],
    [{ enabled: false }, true],
    [undefined, false],
  ])("where one of the chart's accounts mirrors, or no longer does: %j", async (endpointMirror, mirrors) => {
    const objects = await render({
      accounts: [{ name: 'x', existingSecret: 's', apiURL: 'https://a', ...(endpointMirror && { endpointMirror }) }],
    });
    const { rules } = only(objects, 'Role', 'edge-edge-operator-accounts');
    expect(rules.some(({ resources }: { resources: string[] }) => resources.includes('configmaps'))).toBe(mirrors);
  });

  test('names of digits alone, or of words that YAML knows, are names', async () => {
    const values = {
      ...matrix.everything,
      accounts: [{ name: '1', existingSecret: '2', namespace: '3', endpointMirror: {} }],
      watchNamespaces: ['3', '4'],
      settings: { defaultAccountNamespaces: ['4'] },
      account: { ...account, apiKey: '', existingSecret: '5' },
      endpointMirror: { namespace: '6' },
      serviceAccount: { create: false, name: '7' },
      priorityClassName: 'true',
      fullnameOverride: 'e',
      nameOverride: '8',
      test: { sample: { namespace: '4', account: '1' } },
    };
    const objects = await render(values, { name: '42', namespace: '1234', tests: true });
    const places =
      /^(name|namespace|secretName|serviceAccountName|priorityClassName|app\.kubernetes\.io\/.*|meta\.helm\.sh\/.*)$/;
    const others: string[] = [];
    const look = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (places.test(key) && typeof inner !== 'string' && typeof inner !== 'object') others.push(`${path}.${key}`);
        look(inner, `${path}.${key}`);
      }
    };
    for (const object of objects) look(object, object.kind);
    expect(others).toEqual([]);
    expect(objects.length).toBeGreaterThan(20);
  });

  test('releases of one name, in namespaces of their own, make nothing of one name in what they share', async () => {
    const values = {
      account,
      accounts: [{ name: 'x', existingSecret: 's', namespace: 'team' }],
      watchNamespaces: ['team'],
      endpointMirror: { namespace: 'mirrors' },
    };
    const roles = async (namespace: string) =>
      (await render(values, { namespace }))
        .filter(({ kind }) => kind.startsWith('Role'))
        .map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
    const [blue, green] = await Promise.all([roles('blue'), roles('green')]);
    expect(blue).toHaveLength(8);
    expect(blue.filter((role) => green.includes(role))).toEqual([]);
    expect(blue).toContain('Role blue/edge-edge-operator-leader');
  });

  test('the Leases of as many shards as there may be are granted, whatever their number is now', () => {
    const { maximum } = JSON.parse(readFileSync(join(chartDir, 'values.schema.json'), 'utf8')).properties.shards;
    const shards = Array.from({ length: maximum }, (_, shard) => `edge-operator-${shard}`);
    for (const name of ['defaults', 'everything']) {
      const { rules } = only(of(name), 'Role', 'edge-edge-operator-leader');
      const names = rules.flatMap(({ resourceNames }: { resourceNames?: string[] }) => resourceNames ?? []);
      expect(names).toEqual(['edge-operator', 'edge-operator-budget', ...shards]);
    }
  });

  test('of the kinds only finished replays may be deleted', () => {
    const writes = 'ClusterRole *: get,list,watch,patch';
    expect(grants('defaults', 'requestreplays')).toEqual(['ClusterRole *: delete', writes]);
    expect(grants('defaults', 'agenttunnels')).toEqual([writes]);
  });

  test('no Secret, but for those that are named and those of the accounts, unless any is asked for', () => {
    const secrets = (name: string) =>
      of(name)
        .filter(({ kind }) => /Role$/.test(kind))
        .flatMap(({ metadata, rules }) =>
          rules
            .filter(({ resources }: { resources: string[] }) => resources.includes('secrets'))
            .map(({ resourceNames }: { resourceNames?: string[] }) => [metadata.namespace ?? '*', resourceNames]),
        );
    expect(secrets('defaults')).toEqual([]);
    expect(secrets('a Secret of the user')).toEqual([]);
    expect(secrets('named Secrets only')).toEqual([['*', ['a', 'b.c']]]);
    expect(secrets('any Secret')).toEqual([['*', undefined]]);
    expect(secrets('more accounts')).toEqual([
      ['edge-system', ['edge-edge-operator-account-second']],
      ['team', ['third']],
    ]);
  });

  test('of the cluster may use the kinds only where that is asked for', () => {
    const into = (name: string, role: string) =>
      Object.keys(only(of(name), 'ClusterRole', `edge-edge-operator-${role}`).metadata.labels ?? {})
        .filter((label) => label.startsWith('rbac.authorization.k8s.io/aggregate-to-'))
        .map((label) => label.split('-').at(-1));
    expect([into('defaults', 'view'), into('defaults', 'edit')]).toEqual([[], []]);
    const asked = 'definitions that go';
    expect([into(asked, 'view'), into(asked, 'edit')]).toEqual([['view'], ['edit', 'admin']]);
  });

  test('who is bound to the role that writes may do what kubectl needs for it', () => {
    const rulesOf = (role: string) => only(of('defaults'), 'ClusterRole', `edge-edge-operator-${role}`).rules;
    const [reading, writing] = [rulesOf('view'), rulesOf('edit')];
    expect(reading[0].verbs).toEqual(['get', 'list', 'watch']);
    // `kubectl apply` and `kubectl edit` begin with a get, `kubectl delete` ends with a watch.
    expect(writing[0].verbs).toEqual([...reading[0].verbs, 'create', 'update', 'patch', 'delete', 'deletecollection']);
    const statuses = definitions.map(({ type }) => `${type.plural}/status`).sort();
    for (const [, status] of [reading, writing]) {
      expect(status).toMatchObject({ apiGroups: ['edge-operator.dev'], verbs: ['get'] });
      expect([...status.resources].sort()).toEqual(statuses);
    }
  });
});

describe('accounts', () => {
  const values = matrix['more accounts'] ?? {};

  test('wait for the definitions where there are none yet, and stay when the chart goes', async () => {
    const served = await render(values, { served: ['edge-operator.dev/v1alpha1/CloudAccount'] });
    for (const name of ['second', 'third']) {
      const [first, later] = [of('more accounts'), served].map((objects) => only(objects, 'CloudAccount', name));
      expect(first?.metadata.annotations).toHaveProperty(['helm.sh/hook']);
      expect(later?.metadata.annotations).toEqual(kept);
      expect(first?.spec).toEqual(later?.spec);
    }
  });

  test('are bounded as the definition has it', () => {
    const { account, budget, endpointMirror } = JSON.parse(
      readFileSync(join(chartDir, 'values.schema.json'), 'utf8'),
    ).definitions;
    expect(account.properties.requestsPerMinute).toEqual({ $ref: '#/definitions/budget' });
    const [version] = readYaml(join(crdsDir, 'cloudaccounts.yaml')).spec.versions;
    const { properties } = version.schema.openAPIV3Schema.properties.spec;
    const bounds = ({ minimum, maximum }: { minimum: number; maximum: number }) => [minimum, maximum];
    expect(bounds(budget)).toEqual(bounds(properties.requestsPerMinute));
    const { intervalSeconds } = properties.endpointMirror.properties;
    expect(bounds(endpointMirror.properties.intervalSeconds)).toEqual(bounds(intervalSeconds));
  });

  test('leave a Secret that docs/install.md finds, to have everything gone', () => {
    const docs = readFileSync(join(import.meta.dirname, '../../docs/install.md'), 'utf8');
    const [, label = '', value] = /kubectl delete secret -A -l (\S+)=(\S+)/.exec(docs) ?? [];
    expect(only(of('more accounts'), 'Secret').metadata).toMatchObject({
      labels: { [label]: value },
      annotations: kept,
    });
  });

  test('name their Secret, made from a key or found', () => {
    const { spec } = only(of('more accounts'), 'CloudAccount', 'second');
    const secret = only(of('more accounts'), 'Secret');
    expect(spec.apiKeySecretRef).toEqual({ name: secret.metadata.name, key: 'api-key' });
    expect(Buffer.from(secret.data['api-key'], 'base64').toString()).toBe('canary-key');
    expect(only(of('more accounts'), 'CloudAccount', 'third').spec.apiKeySecretRef).toEqual({
      name: 'third',
      key: 'key',
    });
  });
});

test('the image is that of the version, a tag, or a digest, which wins', async () => {
  const image = async (values: object) => containerOf(only(await render({ image: values }), 'Deployment')).image;
  const digest = `sha256:${'a'.repeat(64)}`;
  expect(await image({})).toBe(`ghcr.io/edge-operator/edge-operator:${version}`);
  expect(await image({ tag: 'next' })).toBe('ghcr.io/edge-operator/edge-operator:next');
  expect(await image({ tag: 'next', digest })).toBe(`ghcr.io/edge-operator/edge-operator@${digest}`);
});

test('alerts are those of files/, of this release alone', () => {
  const objects = of('everything');
  const written = readFileSync(join(chartDir, 'files/alerts.yaml'), 'utf8');
  const service = only(objects, 'Service', 'edge-edge-operator-metrics');
  // Which Prometheus takes the job from, where nobody says otherwise.
  const scope = `job="${service.metadata.name}",namespace="${service.metadata.namespace}"`;
  const own = written.replaceAll(`job="edge-operator-metrics",namespace="edge-operator"`, scope);
  expect(only(objects, 'PrometheusRule').spec).toEqual(parse(own));
  expect(own).not.toContain('"edge-operator');
});

test('the dashboard is that of files/', () => {
  const objects = of('everything');
  const dashboard = JSON.parse(
    only(objects, 'ConfigMap', 'edge-edge-operator-dashboard').data['edge-edge-operator.json'],
  );
  expect(dashboard).toEqual(JSON.parse(readFileSync(join(chartDir, 'files/dashboard.json'), 'utf8')));
});

describe('the agent', () => {
  const name = 'edge-edge-operator-agent';

  test('takes requests under the names of its Service, and the configuration that was given', () => {
    const config = readConfig(parseConfig(only(of('everything'), 'ConfigMap', name).data['agent.yml']));
    expect(config.web_addr).toEqual({ host: '', port: 4040 });
    expect(config.web_allow_hosts).toContain(`${name}.${release.namespace}.svc`);
    expect(config.tunnels.map((tunnel) => tunnel.name)).toEqual(['web']);
  });

  test('is scheduled where the operator may be, and so is what helm test runs', async () => {
    const values = matrix.everything ?? {};
    const objects = await render({ ...values, test: { sample: { namespace: 'samples' } } }, { tests: true });
    const pods = objects.flatMap(({ kind, spec }) =>
      kind === 'Pod' ? [spec] : kind === 'Deployment' ? [spec.template.spec] : [],
    );
    expect(pods).toHaveLength(4);
    const { nodeSelector, tolerations } = values;
    for (const pod of pods) expect(pod).toMatchObject({ nodeSelector, tolerations });
  });

  test('trusts an authority that its environment names', async () => {
    const { extraEnv, extraVolumes, extraVolumeMounts } = matrix.everything ?? {};
    const config = { tunnels: {} };
    const objects = await render({ agent: { enabled: true, config, extraEnv, extraVolumes, extraVolumeMounts } });
    const { containers, volumes } = only(objects, 'Deployment', name).spec.template.spec;
    expect(containers[0].env).toEqual(extraEnv);
    expect(volumes).toEqual(expect.arrayContaining(extraVolumes as object[]));
    expect(containers[0].volumeMounts).toEqual(expect.arrayContaining(extraVolumeMounts as object[]));
  });

  test('is configured by whatever docs/agent.md names', async () => {
    const docs = readFileSync(join(import.meta.dirname, '../../docs/agent.md'), 'utf8');
    const [, example = ''] = /```yaml\n(web_addr.*?)```/s.exec(docs) ?? [];
    const { web_addr, edge_addr, ...config } = parse(example);
    const [, table = ''] = /### Tunnels\n(.*?)\n\nUnknown/s.exec(docs) ?? [];
    const parameters = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, parameter]) => String(parameter));
    const given: Record<string, unknown> = {
      proto: 'http',
      addr: 80,
      inspect: false,
      verify_upstream_tls: false,
      remote_port: 1,
    };
    const all = parameters.filter((parameter) => parameter !== 'name').map((name) => [name, given[name] ?? 'a']);
    expect(all.length).toBeGreaterThan(7);
    config.tunnels.all = Object.fromEntries(all);
    await render({ agent: { enabled: true, config } });
  });

  test('registers its endpoints with the key of the default account, as that has it now', () => {
    const { spec } = only(of('everything'), 'Deployment', name).spec.template;
    const flags = flagsOf(spec.containers[0]);
    expect(flags.get('cloud-url')).toBe(flagsOf(containerOf(operatorOf(of('everything')))).get('api-url'));
    const keyFile = String(flags.get('api-key-file'));
    const [mount] = spec.containers[0].volumeMounts.filter((each: { name: string }) => each.name === 'account');
    expect(keyFile.startsWith(`${mount.mountPath}/`)).toBe(true);
    expect(mount.subPath).toBeUndefined();
  });

  test('only the operator reaches its API', () => {
    const { ingress } = only(of('everything'), 'NetworkPolicy', name).spec;
    const [api] = ingress.filter(({ ports }: { ports: { port: number }[] }) => ports.some(({ port }) => port === 4040));
    const operator = operatorOf(of('everything')).spec.selector.matchLabels;
    expect(api.from).toEqual([{ podSelector: { matchLabels: operator } }]);
  });

  test('the operator may reach it through its own network policy', () => {
    const { egress } = only(of('everything'), 'NetworkPolicy', 'edge-edge-operator').spec;
    expect(egress).toContainEqual({ ports: [{ port: 4040 }], to: [{ namespaceSelector: {} }] });
  });
});

describe('the network policy', () => {
  const policyOf = (name: string) => only(of(name), 'NetworkPolicy', 'edge-edge-operator').spec;
  const portsOf = (name: string): readonly number[] =>
    policyOf(name)
      .egress.filter(({ to }: { to?: unknown }) => to === undefined)
      .flatMap(({ ports }: { ports: { port: number }[] }) => ports.map(({ port }) => port));

  test('lets in who may read metrics, and nobody else', () => {
    const namespace = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });
    const ports = [{ port: 8081 }, { port: 8080 }];
    expect(policyOf('defaults').ingress).toEqual([{ ports, from: [namespace('monitoring')] }]);
    expect(policyOf('everything').ingress).toEqual([
      { ports, from: [{ podSelector: { matchLabels: { reads: 'metrics' } } }, namespace('prometheus')] },
    ]);
    // An empty `from` would be everybody.
    expect(policyOf('nobody who reads metrics').ingress).toEqual([]);
  });

  test('lets out to DNS and the API server, and to the ports of whatever address is allowed', () => {
    const always = [53, 53, 5353, 5353, 443, 6443, 8443, 16443];
    expect(portsOf('defaults')).toEqual(always);
    expect(portsOf('a key in the values')).toEqual([...always, 8080]);
    expect(portsOf('only accounts')).toEqual([...always, 8000]);
    expect(portsOf('everything')).toEqual([...always, 80, 4041, 4042, 4043, 4044]);
  });

  test('lets out to DNS and agents alone where no port is given', async () => {
    const objects = await render({ networkPolicy: { egressPorts: [] } });
    const { egress } = only(objects, 'NetworkPolicy').spec;
    // A rule without ports would be every port of everything.
    expect(egress.map(({ ports }: { ports: unknown }) => ports)).toEqual([expect.any(Array), [{ port: 4040 }]]);
  });
});

test('pods are spread among those of the Deployment, unless a constraint says among which', async () => {
  const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
  const labelSelector = { matchLabels: { app: 'mine' } };
  const objects = await render({ topologySpreadConstraints: [spread, { ...spread, labelSelector }] });
  const { selector, template } = only(objects, 'Deployment').spec;
  expect(template.spec.topologySpreadConstraints).toEqual([
    { ...spread, labelSelector: selector },
    { ...spread, labelSelector },
  ]);
});

test('a PodDisruptionBudget needs a second pod: one alone could never be drained in peace', () => {
  const budgets = (name: string) => of(name).filter(({ kind }) => kind === 'PodDisruptionBudget');
  expect(budgets('defaults')).toEqual([]);
  expect(budgets('only accounts').map(({ spec }) => spec.maxUnavailable)).toEqual([1]);
});

/** The most that the operator takes. */
const durations = [
  ['endpointMirror', 'interval', '24h'],
  ['settings', 'resyncInterval', '8760h'],
  ['settings', 'createSettle', '1h'],
] as const;
const account = { apiURL: 'https://a', existingSecret: 's' };

describe.each(durations)('%s.%s', (group, name, most) => {
  const started = async (value: unknown) => {
    const flags = flagsOf(containerOf(operatorOf(await render({ account, [group]: { [name]: value } }))));
    const settings = settingsHelp().map((setting) => [setting.name, flags.get(setting.flag.slice(2))]);
    return parseSettings(Object.fromEntries(settings.filter(([, given]) => given !== undefined)));
  };

  test('is taken as far as the operator takes it', async () => {
    for (const value of ['100ms', '1.5m', '0.05h', '99.5ms', most]) await expect(started(value)).resolves.toBeDefined();
  });

  const unusable = ['99ms', '99.4ms', '0.001s', '8761h', `${most.slice(0, -1)}.001h`];
  test.each(group === 'settings' ? [...unusable, '0', 0] : unusable)('of %s is refused by the chart', async (value) => {
    const message = `${group}.${name} must be at least 100ms and at most ${most}, not ${value}`;
    await expect(started(value)).rejects.toThrow(message);
  });
});

test.each<[string, Values]>([
  ['in the namespace of the release', { watchNamespaces: ['a', release.namespace] }],
  ['by its url', { watchNamespaces: ['a'], settings: { allowedAgentHosts: ['x-agent.edge-system.svc:4040'] } }],
])('with namespaces given, the agent is reached %s', async (_, values) => {
  await expect(render({ account, ...values, agent: { enabled: true } })).resolves.toBeDefined();
});

describe('values that cannot be used', () => {
  const cases: readonly [why: string, values: Values, message: RegExp][] = [
    ['an unknown key', { acount: {} }, /additional properties 'acount' not allowed/],
    ['an unknown key further down', { account: { url: 'x' } }, /at '\/account'.*'url' not allowed/],
    ['an unknown setting', { settings: { resync: '1m' } }, /at '\/settings'.*'resync' not allowed/],
    ['a wrong type', { replicas: 'two' }, /at '\/replicas': got string, want integer/],
    [
      'no duration',
      { settings: { resyncInterval: '5 minutes' } },
      /settings\.resyncInterval: "5 minutes" is no duration: write 500ms, 30s, 5m or 1h/,
    ],
    [
      'a duration without a unit',
      { endpointMirror: { interval: 30 } },
      /endpointMirror\.interval: "30" is no duration: write 500ms, 30s, 5m or 1h/,
    ],
    ['a duration below none', { settings: { createSettle: -1 } }, /settings\.createSettle: "-1" is no duration/],
    ['no digest', { image: { digest: 'latest' } }, /at '\/image\/digest'/],
    [
      'two keys',
      { account: { ...account, apiKey: 'k' } },
      /account.apiKey and account.existingSecret exclude each other/,
    ],
    [
      'any Secret and some',
      { rbac: { secrets: true, secretNames: ['a'] } },
      /rbac\.secrets and rbac\.secretNames exclude/,
    ],
    ['a key without an address', { account: { apiKey: 'k' } }, /account.apiURL is needed/],
    ['an account without a key', { account, accounts: [{ name: 'x' }] }, /accounts\[0\] \(x\): give one of apiKey/],
    ['an account without an address', { accounts: [{ name: 'x', apiKey: 'k' }] }, /accounts\[0\] \(x\): give apiURL/],
    [
      'an account in a namespace that nobody watches',
      { account, watchNamespaces: ['a'], accounts: [{ name: 'x', apiKey: 'k' }] },
      /namespace edge-system is not in watchNamespaces/,
    ],
    [
      'a sample in a namespace that nobody watches',
      { account, watchNamespaces: ['a'], test: { sample: { namespace: 'b' } } },
      /test\.sample\.namespace: b is not in watchNamespaces/,
    ],
    [
      'an agent that no Agent reaches',
      { account, watchNamespaces: ['a'], agent: { enabled: true } },
      /agent\.enabled: its namespace edge-system is not in watchNamespaces: add it, or its host/,
    ],
    [
      'no parameter of the agent',
      { agent: { config: { inspect_db_sise: 1 } } },
      /at '\/agent\/config'.*inspect_db_sise/,
    ],
    [
      'a size of the agent that is none',
      { agent: { config: { inspect_db_size: '1GB' } } },
      /at '\/agent\/config\/inspect_db_size'/,
    ],
    [
      'no parameter of a tunnel',
      { agent: { config: { tunnels: { web: { proto: 'http', addr: 8080, basic_auth: 'a:b' } } } } },
      /at '\/agent\/config\/tunnels\/web'.*basic_auth/,
    ],
    [
      'a tunnel to nowhere',
      { agent: { config: { tunnels: { web: { proto: 'http' } } } } },
      /at '\/agent\/config\/tunnels\/web': missing property 'addr'/,
    ],
    ...['nowhere', 'a b:80', 'http://a/b', 'a:port', 0, 70_000].map((addr): (typeof cases)[number] => [
      `a tunnel to ${addr}`,
      { agent: { config: { tunnels: { web: { proto: 'http', addr } } } } },
      /at '\/agent\/config\/tunnels\/web\/addr'/,
    ]),
    [
      'a name of no host',
      { agent: { config: { tunnels: { web: { proto: 'http', addr: 80, subdomain: 'A_B' } } } } },
      /at '\/agent\/config\/tunnels\/web\/subdomain'/,
    ],
    [
      'endpoints of no region',
      { account, agent: { enabled: true, registerEndpoints: true, config: { region: 'mars' } } },
      /agent\.config\.region must be one of au, eu/,
    ],
    [
      "the agent's address",
      { agent: { enabled: true, config: { web_addr: ':1' } } },
      /agent.config.web_addr is set by/,
    ],
    [
      'endpoints of no account',
      { agent: { enabled: true, registerEndpoints: true } },
      /agent.registerEndpoints needs the default account/,
    ],
    [
      'a monitor of nothing',
      { metrics: { enabled: false, serviceMonitor: { enabled: true } } },
      /serviceMonitor.enabled needs metrics.enabled/,
    ],
    [
      'alerts of nothing',
      { metrics: { enabled: false, prometheusRule: { enabled: true } } },
      /prometheusRule.enabled needs metrics.enabled/,
    ],
    ['one port for two', { metrics: { port: 8081 } }, /metrics.port and healthPort are the same/],
    // To the operator it would be all of them.
    ['a namespace without a name', { watchNamespaces: [''] }, /at '\/watchNamespaces\/0'/],
    ['a Secret without a name', { rbac: { secretNames: [''] } }, /at '\/rbac\/secretNames\/0'/],
    ['a name that is none', { account: { ...account, existingSecret: 'a..b' } }, /at '\/account\/existingSecret'/],
    ['an account without a name', { account, accounts: [{ name: '', apiKey: 'k' }] }, /at '\/accounts\/0\/name'/],
    [
      'two accounts of one name',
      { account, accounts: ['k', 'l'].map((apiKey) => ({ name: 'x', apiKey })) },
      /accounts\[1\] \(x\): there is another of that name/,
    ],
    [
      'a mirror of no protocol',
      { account, accounts: [{ name: 'x', apiKey: 'k', endpointMirror: { protocols: ['udp'] } }] },
      /at '\/accounts\/0\/endpointMirror\/protocols\/0'/,
    ],
    [
      'all namespaces and some',
      { settings: { defaultAccountNamespaces: ['*', 'a'] } },
      /defaultAccountNamespaces: give names, or \* alone/,
    ],
    [
      'a default account for namespaces that nobody watches',
      { account, watchNamespaces: ['a'], settings: { defaultAccountNamespaces: ['b', 'c'] } },
      /settings\.defaultAccountNamespaces: none of b, c is in watchNamespaces/,
    ],
    ...['https://a:port', 'https://:443', 'https://a:', 'https://[::1', 'https://a/%zz'].flatMap(
      (apiURL): typeof cases => [
        [`no address: ${apiURL}`, { account: { ...account, apiURL } }, /at '\/account\/apiURL'/],
        [`no address: ${apiURL}`, { accounts: [{ name: 'x', apiKey: 'k', apiURL }] }, /at '\/accounts\/0\/apiURL'/],
      ],
    ),
    ...['a:port', 'https://a', 'http://a:4040', 'a/b', '*', 'a*', '*.*.svc', '::1', ':4040', '10.0.0.0/a'].map(
      (host): (typeof cases)[number] => [
        `no host of agents: ${host}`,
        { settings: { allowedAgentHosts: [host] } },
        /at '\/settings\/allowedAgentHosts\/0'/,
      ],
    ),
    ['no key', { account: { apiURL: 'https://a', apiKey: 'two words' } }, /account: apiKey is no API key/],
    [
      'no key of an account',
      { account, accounts: [{ name: 'x', apiKey: ' \n' }] },
      /accounts\[0\] \(x\): apiKey is no API key/,
    ],
    ['a key of no Secret', { account: { ...account, secretKey: '..' } }, /at '\/account\/secretKey'/],
    ['more than all pods', { podDisruptionBudget: { maxUnavailable: '150%' } }, /at '\/podDisruptionBudget\/maxUn/],
    ['a name of no Service', { fullnameOverride: '9edge' }, /the release is named 9edge.*give fullnameOverride/],
    [
      'an account of no sample',
      { test: { sample: { account: 'x' } } },
      /test\.sample\.account needs test\.sample\.namespace/,
    ],
    ['no host', { settings: { allowedApiHosts: ['a b'] } }, /at '\/settings\/allowedApiHosts\/0'/],
    ['several hosts in one', { settings: { allowedAgentHosts: ['a,b'] } }, /at '\/settings\/allowedAgentHosts\/0'/],
    ['nothing in place of a group', { metrics: { dashboard: null } }, /at '\/metrics': missing property 'dashboard'/],
    ['nothing in place of a list', { accounts: null }, /missing property 'accounts'/],
  ];
  test.each(cases)('%s', async (_why, values, message) => {
    await expect(render(values)).rejects.toThrow(message);
  });
});

/* Helm takes the default away where a value is null. */
test.each([
  'commonLabels',
  'account.secretKey',
  'account.requestsPerMinute',
  'endpointMirror.interval',
  'image.repository',
  'crds.keep',
  'serviceAccount.create',
  'rbac.aggregate',
  'livenessProbe',
  'readinessProbe',
  'healthPort',
  'metrics.port',
  'metrics.serviceMonitor.labels',
  'metrics.serviceMonitor.interval',
  'metrics.prometheusRule.labels',
  'metrics.dashboard.labels',
])('%s is needed: null is refused, and named', async (path) => {
  const [group = '', name = group] = path.split(/\.(?=[^.]*$)/);
  const nothing = helm(['template', 'x', chartDir, '--set', `${path}=null`]);
  const at = name === group ? '' : `/${group.replace('.', '/')}`;
  await expect(nothing).rejects.toThrow(`at '${at}': missing property '${name}'`);
});

test('older clusters are refused', async () => {
  const old = helm(['template', 'x', chartDir, '--kube-version', '1.28.9']);
  await expect(old).rejects.toThrow(/requires kubeVersion: >=1.29.0-0/);
});

describe('the notes say what to do next', () => {
  const notes = async (values: Values) => {
    const text = await helm(['install', 'x', chartDir, '--dry-run=client', '-n', 'edge'], { values });
    return text.slice(text.indexOf('NOTES:'));
  };
  test('with a default account, a first resource where it is watched', async () => {
    const text = await notes({ account: { apiURL: 'https://a', apiKey: 'k' }, watchNamespaces: ['team'] });
    expect(text).toContain('kubectl apply -n team -f -');
  });
  test('and where it may use the default account', async () => {
    const settings = (...defaultAccountNamespaces: readonly string[]) => ({
      account,
      settings: { defaultAccountNamespaces },
    });
    expect(await notes(settings('team', 'other'))).toContain('kubectl apply -n team -f -');
    expect(await notes(settings('*'))).toContain('kubectl apply -f -');
    const watching = await notes({ ...settings('other', 'team'), watchNamespaces: ['team', 'a'] });
    expect(watching).toContain('kubectl apply -n team -f -');
    expect(watching).not.toContain('other');
    expect(await notes({ ...settings('*'), watchNamespaces: ['a'] })).toContain('kubectl apply -n a -f -');
  });
  test('without one, how to get one', async () => {
    expect(await notes({})).toContain('--set account.existingSecret=edge-account');
  });
});
