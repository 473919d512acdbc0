import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { hasKubectl, kubectl } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import { parentsOf, partCases, rules, specOf } from './kinds.ts';

/* What the API server itself refuses, by the generated CRDs, and how the kinds read in kubectl. */

let world: World;
let namespace: string;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  namespace = await world.namespace();
});
afterAll(() => world.stop());

describe('a bad resource is refused with the name of the field', () => {
  const ref = { name: 'n', key: 'k' };
  const route = (parts: object) => ({ edgeID: 'e', routeID: 'r', ...parts });
  const cases: readonly [why: string, kind: string, spec: object, message: RegExp][] = [
    [
      'a region outside the seven',
      'ReservedAddr',
      { region: 'xx' },
      /spec\.region: Unsupported value: "xx": supported values: "us", "eu"/,
    ],
    [
      'metadata of 4097 bytes',
      'ReservedAddr',
      { metadata: 'x'.repeat(4097) },
      /spec\.metadata: Too long: may not be more than 4096 bytes/,
    ],
    [
      'metadata of 4098 bytes in 2049 characters',
      'ReservedAddr',
      { metadata: 'ü'.repeat(2049) },
      /spec\.metadata: .*at most 4096 bytes of UTF-8/,
    ],
    [
      'an unknown field',
      'ReservedAddr',
      { regoin: 'eu' },
      /unknown field "spec\.regoin"|spec\.regoin: field not declared/,
    ],
    ['a bot without a name', 'BotUser', { active: true }, /spec\.name: Required value/],
    [
      'a wrong type',
      'BotUser',
      { name: 'a', active: 'yes' },
      /spec\.active: Invalid value: "?string"?|\.spec\.active: expected boolean/,
    ],
    [
      'an interval below the floor',
      'BotUser',
      { name: 'a', resyncIntervalSeconds: 29 },
      /spec\.resyncIntervalSeconds: .*greater than or equal to 30/,
    ],
    [
      'a policy outside the two',
      'BotUser',
      { name: 'a', deletionPolicy: 'Keep' },
      /spec\.deletionPolicy: Unsupported value: "Keep"/,
    ],
    [
      'a protocol that no endpoint has',
      'CloudAccount',
      { apiKeySecretRef: { name: 'a', key: 'k' }, endpointMirror: { protocols: ['udp'] } },
      /spec\.endpointMirror\.protocols\[0\]: Unsupported value: "udp": supported values: "http"/,
    ],
    ['an Agent without an address', 'Agent', {}, /spec: .*needs exactly one of serviceRef and url/],
    [
      'an Agent with two addresses',
      'Agent',
      { url: 'http://a', serviceRef: { name: 'a' } },
      /spec: .*needs exactly one of serviceRef and url/,
    ],
    ['an Agent with credentials in its url', 'Agent', { url: 'http://me:secret@a' }, /spec\.url: Invalid value/],
    ['an Agent without a scheme', 'Agent', { url: 'agent:4040' }, /spec\.url: .*write https:\/\/host/],
    [
      'an account without a scheme',
      'CloudAccount',
      { apiURL: 'api.example.com', apiKeySecretRef: ref },
      /spec\.apiURL: .*write https:\/\/host\[:port\]/,
    ],
    [
      'an account with another scheme',
      'CloudAccount',
      { apiURL: 'ftp://api.example.com', apiKeySecretRef: ref },
      /spec\.apiURL: .*write https:\/\/host\[:port\]/,
    ],
    [
      'a Service of another namespace',
      'Agent',
      { serviceRef: { name: 'a.other' } },
      /spec\.serviceRef\.name: Invalid value/,
    ],
    [
      'a tunnel without an address',
      'AgentTunnel',
      { agentRef: { name: 'a' }, proto: 'http' },
      /spec\.addr: Required value/,
    ],
    [
      'a tunnel that no URL can name',
      'AgentTunnel',
      { agentRef: { name: 'a' }, proto: 'http', addr: '1', tunnelName: '..' },
      /spec\.tunnelName: .*neither \. nor \.\./,
    ],
    [
      'a tunnel with a line break in its name',
      'AgentTunnel',
      { agentRef: { name: 'a' }, proto: 'http', addr: '1', tunnelName: 'a\nb' },
      /spec\.tunnelName: Invalid value/,
    ],
    ['no edge', 'HttpsEdgeModules', {}, /spec\.edgeID: Required value/],
    ...['.', '..', 'a/b', 'a b', '../x', 'a'.repeat(129)].map(
      (id) =>
        [`the edge ${id}`, 'TlsEdgeTrafficPolicy', { edgeID: id, policy: rules() }, /spec\.edgeID: /] as [
          string,
          string,
          object,
          RegExp,
        ],
    ),
    [
      'an IP policy that is a path',
      'HttpsRouteModules',
      route({ ipRestriction: { ipPolicyIDs: ['a/b'] } }),
      /spec\.ipRestriction\.ipPolicyIDs\[0\]: /,
    ],
    [
      'an endpoint configuration ..',
      'ReservedAddr',
      { endpointConfigurationID: '..' },
      /spec\.endpointConfigurationID: /,
    ],
    ['no route', 'HttpsRouteModules', { edgeID: 'e' }, /spec\.routeID: Required value/],
    ['SAML without metadata', 'HttpsRouteModules', route({ saml: {} }), /spec\.saml: .*exactly one of idpMetadata and/],
    [
      'SAML with metadata twice',
      'HttpsRouteModules',
      route({ saml: { idpMetadata: 'x', idpMetadataFrom: { secretKeyRef: ref } } }),
      /spec\.saml: .*exactly one of idpMetadata and/,
    ],
    [
      'a source of metadata that names two',
      'HttpsRouteModules',
      route({ saml: { idpMetadataFrom: { secretKeyRef: ref, configMapKeyRef: ref } } }),
      /spec\.saml\.idpMetadataFrom: .*exactly one of configMapKeyRef and/,
    ],
    [
      'a timeout of 2^32 seconds',
      'HttpsRouteModules',
      route({ saml: { idpMetadata: 'x', inactivityTimeoutSeconds: 2 ** 32 } }),
      /spec\.saml\.inactivityTimeoutSeconds: .*less than or equal to 4294967295/,
    ],
    [
      'a negative duration',
      'HttpsRouteModules',
      route({ saml: { idpMetadata: 'x', maximumDurationSeconds: -1 } }),
      /spec\.saml\.maximumDurationSeconds: .*greater than or equal to 0/,
    ],
    [
      'an id twice',
      'HttpsRouteModules',
      route({ ipRestriction: { ipPolicyIDs: ['ipp_1', 'ipp_1'] } }),
      /spec\.ipRestriction\.ipPolicyIDs.*([Dd]uplicate)/,
    ],
    [
      'a provider without its secret',
      'HttpsRouteModules',
      route({ webhookVerification: { provider: 'github' } }),
      /spec\.webhookVerification: .*secretRef is required by every provider but sns/,
    ],
    [
      'a secret in the open',
      'HttpsRouteModules',
      route({ webhookVerification: { provider: 'github', secret: 's' } }),
      /secret/,
    ],
    ['no policy', 'TlsEdgeTrafficPolicy', { edgeID: 'e' }, /spec: .*exactly one of policy and policyFrom/],
    [
      'two policies',
      'TlsEdgeTrafficPolicy',
      { edgeID: 'e', policy: rules(), policyFrom: { configMapKeyRef: ref } },
      /spec: .*exactly one of policy and policyFrom/,
    ],
    [
      'a rule without the type of its action',
      'TlsEdgeTrafficPolicy',
      { edgeID: 'e', policy: { inbound: [{ name: 'n', expressions: [], actions: [{ config: {} }] }] } },
      /spec\.policy\.inbound\[0\]\.actions\[0\]\.type: Required value/,
    ],
  ];
  test.each(cases)('%s', async (_why, kind, spec, message) => {
    await expect(world.apply(kind, namespace, 'a', spec)).rejects.toThrow(message);
  });

  test.each(partCases)('another parent of $kind', async (row) => {
    const parents = parentsOf(0);
    const spec = specOf(
      row,
      parents,
      row.externals.filter(({ name }) => name === undefined),
    );
    await world.apply(row.kind, namespace, 'a', spec);
    for (const id of Object.keys(row.ids(parents))) {
      const moved = world.apply(row.kind, namespace, 'a', { ...spec, [id]: 'other' });
      await expect(moved).rejects.toThrow(new RegExp(`spec\\.${id}: .*${id} cannot be changed`));
    }
  });

  test.each(['sns', 'SNS', 'Sns'])('but not provider %s without a secret', async (provider) => {
    const spec = route({ webhookVerification: { provider } });
    await world.apply('HttpsRouteModules', namespace, 'a', spec);
  });

  test('a changed region', async () => {
    await world.apply('ReservedAddr', namespace, 'a', { region: 'eu' });
    await expect(world.apply('ReservedAddr', namespace, 'a', { region: 'us' })).rejects.toThrow(
      /spec\.region: .*region cannot be changed/,
    );
  });

  test('a changed replay', async () => {
    const spec = { agentRef: { name: 'dev' }, requestID: 'req_1', tunnelName: 'web', ttlSecondsAfterFinished: 60 };
    await world.apply('RequestReplay', namespace, 'a', spec);
    const { tunnelName: _, ...without } = spec;
    for (const changed of [{ ...spec, requestID: 'req_2' }, { ...spec, ttlSecondsAfterFinished: 61 }, without]) {
      await expect(world.apply('RequestReplay', namespace, 'a', changed)).rejects.toThrow(
        /spec: .*a replay cannot be changed; create another one/,
      );
    }
  });

  test('metadata of exactly 4096 bytes is accepted, in characters of any width', async () => {
    for (const [index, metadata] of ['x'.repeat(4096), 'ü'.repeat(2048), '😀'.repeat(1024)].entries()) {
      const object = await world.apply('ReservedAddr', namespace, `m${index}`, { metadata });
      expect(object.spec.metadata).toBe(metadata);
    }
  });
});

test('the API server accepts every resource that the docs show', async () => {
  const pages = ['README.md', 'docs/using.md', 'docs/agent.md', 'docs/install.md'];
  const examples = pages.flatMap((page) =>
    [...readFileSync(join(import.meta.dirname, '../..', page), 'utf8').matchAll(/^```yaml\n(.*?)^```/gms)]
      .flatMap(([, yaml = '']) => parseAllDocuments(yaml).map((document) => document.toJS()))
      .filter(({ apiVersion }) => apiVersion === 'edge-operator.dev/v1alpha1'),
  );
  expect(examples.length).toBeGreaterThan(6);
  for (const { kind, metadata, spec } of examples) {
    await world.apply(kind, namespace, metadata.name, spec, metadata.annotations);
  }
});

test('a new resource is never taken for a current one: its status is of generation -1', async () => {
  const object = await world.apply('ReservedAddr', namespace, 'a', {});
  expect(object.status).toEqual({ observedGeneration: -1 });
  expect(object.spec).toEqual({ region: 'us', deletionPolicy: 'Delete', managementPolicy: 'Manage' });
});

(hasKubectl ? describe : describe.skip)('kubectl', () => {
  const run = (args: readonly string[], input?: string) => kubectl(world.kube, ['-n', namespace, ...args], input);
  const apply = (yaml: string) => run(['apply', '-f', '-'], yaml);
  const manifest = (kind: string, name: string, spec: object) =>
    JSON.stringify({ apiVersion: 'edge-operator.dev/v1alpha1', kind, metadata: { name }, spec });

  test('apply, wait, get, explain and delete read well', async () => {
    const operator = world.startOperator(['--watch-namespaces', namespace]);
    for (const yaml of [manifest('ReservedAddr', 'db', { region: 'eu' }), manifest('BotUser', 'ci', { name: 'ci' })]) {
      expect((await apply(yaml)).stdout).toMatch(/created/);
    }
    const waited = await run(['wait', '--for=condition=Ready', 'ra/db', 'bot/ci', '--timeout=20s']);
    expect(waited).toMatchObject({ status: 0 });
    const { stdout: table } = await run(['get', 'ra,bot']);
    expect(table).toMatch(
      /NAME +ID +ADDR +REGION +READY +REASON +AGE\nreservedaddr\.edge-operator\.dev\/db +ra_\w+ +\S+:\d+ +eu +True +Available +\d+s/,
    );
    expect(table).toMatch(
      /NAME +ID +USERNAME +ACTIVE +READY +REASON +AGE\nbotuser\.edge-operator\.dev\/ci +bot_\w+ +ci +true +True +Available +\d+s/,
    );
    expect((await run(['get', 'edge'])).stdout).toMatch(/REASON.*\n.*Available/);
    const { stdout: explained } = await run(['explain', 'ra.spec']);
    expect(explained).toMatch(/region\t<string>\n +enum: us, eu/);
    expect(explained).toContain('cannot be changed');
    const described = () => run(['describe', 'ra', 'db']);
    await until('the event to be described', async () =>
      /created reserved address ra_/.test((await described()).stdout),
    );
    expect(await run(['delete', 'ra/db', 'bot/ci', '--timeout=20s'])).toMatchObject({ status: 0 });
    await operator.stop();
  }, 60_000);

  test('a bad resource is refused at apply', async () => {
    const refusal = async (spec: object) => (await apply(manifest('ReservedAddr', 'a', spec))).stderr;
    expect(await refusal({ region: 'xx' })).toMatch(/spec\.region: Unsupported value: "xx"/);
    expect(await refusal({ regoin: 'eu' })).toMatch(/unknown field "spec\.regoin"/);
    expect(await refusal({ metadata: 'x'.repeat(4097) })).toMatch(/spec\.metadata: Too long/);
    expect(await refusal({ region: 'eu' })).toBe('');
    expect(await refusal({ region: 'us' })).toMatch(/spec\.region: .*cannot be changed/);
  });
});
