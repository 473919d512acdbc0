import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parseAllDocuments, stringify } from 'yaml';
import { definitions } from '../../src/operator/kinds/index.ts';
import { hasKubectl, kubectl } from '../support/kubectl.ts';
import { startWorld, type World } from '../support/world.ts';
import { rules } from './kinds.ts';

/* What an apply makes of a spec that was applied before: the API server alone, by the generated CRDs. */

let world: World;
let namespace: string;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  namespace = await world.namespace();
});
afterAll(() => world.stop());

/** What each of these kinds needs beside the part that changes. */
const others: Readonly<Record<string, object>> = {
  HttpsRouteModules: { edgeID: 'e', routeID: 'r' },
  HttpsEdgeModules: { edgeID: 'e' },
  TlsEdgeTrafficPolicy: { edgeID: 'e' },
  CloudAccount: { apiKeySecretRef: { name: 'a', key: 'k' } },
  AgentTunnel: { agentRef: { name: 'a' }, proto: 'http', addr: '1' },
};

describe('an applied spec is as if the one before had never been', () => {
  const saml = { idpMetadata: '<x/>' };
  const policyFrom = { configMapKeyRef: { name: 'a', key: 'k' } };
  const cases: readonly [kind: string, before: object, after: object][] = [
    ['ReservedAddr', { region: 'us', deletionPolicy: 'Retain', managementPolicy: 'Observe' }, {}],
    ['HttpsRouteModules', { compression: { enabled: false } }, { compression: {} }],
    ['HttpsRouteModules', { compression: {} }, {}],
    ['HttpsRouteModules', { saml: { ...saml, authorizedGroups: ['a'] } }, { saml: { ...saml, authorizedGroups: [] } }],
    ['HttpsRouteModules', { saml: { ...saml, enabled: false } }, { saml }],
    ['HttpsRouteModules', { saml: { ...saml, authorizedGroups: ['a'] } }, {}],
    ['HttpsRouteModules', { ipRestriction: { ipPolicyIDs: ['a'] } }, { ipRestriction: {} }],
    ['HttpsRouteModules', { ipRestriction: { ipPolicyIDs: ['a', 'b'] } }, { ipRestriction: { ipPolicyIDs: ['b'] } }],
    ['HttpsRouteModules', { ipRestriction: { enabled: true, ipPolicyIDs: ['a'] } }, {}],
    ['HttpsRouteModules', { webhookVerification: { provider: 'sns', enabled: false } }, {}],
    ['HttpsEdgeModules', { mutualTLS: { certificateAuthorityIDs: ['a'] } }, { mutualTLS: {} }],
    ['HttpsEdgeModules', { mutualTLS: { enabled: true, certificateAuthorityIDs: ['a'] } }, {}],
    ['HttpsEdgeModules', { tlsTermination: { enabled: false } }, { tlsTermination: {} }],
    ['HttpsEdgeModules', { tlsTermination: { minVersion: '1.2' } }, { tlsTermination: {} }],
    ['HttpsEdgeModules', { tlsTermination: { minVersion: '1.2' } }, {}],
    ['TlsEdgeTrafficPolicy', { policy: { ...rules(), outbound: { a: 1 } } }, { policy: { ...rules(), outbound: {} } }],
    ['TlsEdgeTrafficPolicy', { policy: { ...rules(), more: { a: { b: [] } } } }, { policy: rules() }],
    ['TlsEdgeTrafficPolicy', { enabled: false, policy: rules() }, { policyFrom }],
    ['CloudAccount', { endpointMirror: { enabled: false } }, { endpointMirror: {} }],
    ['CloudAccount', { endpointMirror: { intervalSeconds: 60 } }, { endpointMirror: {} }],
    ['CloudAccount', { endpointMirror: { protocols: ['tcp'] } }, { endpointMirror: { protocols: [] } }],
    ['CloudAccount', { endpointMirror: { types: ['edge'] } }, { endpointMirror: { types: [] } }],
    ['CloudAccount', { endpointMirror: { types: ['edge'] } }, {}],
    ['AgentTunnel', { options: { a: { b: 1 } } }, { options: { a: {} } }],
    ['AgentTunnel', { options: { a: 1 } }, { options: {} }],
    ['AgentTunnel', { options: {} }, {}],
  ];
  test.each(cases)('%s: %j, then %j', async (kind, before, after) => {
    await world.apply(kind, namespace, 'a', { ...others[kind], ...before });
    const spec = { ...others[kind], ...after };
    const changed = await world.apply(kind, namespace, 'a', spec);
    const fresh = await world.apply(kind, namespace, 'fresh', spec);
    expect(changed.spec).toEqual(fresh.spec);
  });
});

// docs/gitops.md says so: an applied set that is empty is owned by nobody.
test.each([
  ['HttpsRouteModules', 'ipRestriction', 'ipPolicyIDs'],
  ['HttpsEdgeModules', 'mutualTLS', 'certificateAuthorityIDs'],
])('%s: an emptied list takes %s along, unless it has an `enabled` that is written out', async (kind, part, list) => {
  const left = async (name: string, fields: object) => {
    await world.apply(kind, namespace, name, { ...others[kind], [part]: { ...fields, [list]: ['a'] } });
    return (await world.apply(kind, namespace, name, { ...others[kind], [part]: { ...fields, [list]: [] } })).spec[
      part
    ];
  };
  expect(await left('bare', {})).toBeUndefined();
  expect(await left('kept', { enabled: true })).toEqual({ enabled: true });
});

(hasKubectl ? describe : describe.skip)('kubectl', () => {
  const samples = join(import.meta.dirname, '../../deploy/samples');
  const sampled = readdirSync(samples)
    .flatMap((name) => parseAllDocuments(readFileSync(join(samples, name), 'utf8')).map((each) => each.toJS()))
    .filter(({ apiVersion }) => apiVersion === 'edge-operator.dev/v1alpha1');
  const bare = [
    ['ReservedAddr', {}],
    ['HttpsRouteModules', { compression: {} }],
    ['HttpsEdgeModules', { tlsTermination: {} }],
    ['CloudAccount', { endpointMirror: {} }],
    ['AgentTunnel', { options: {} }],
  ].map(([kind, part]) => ({
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind,
    metadata: { name: 'bare' },
    spec: { ...others[kind as string], ...(part as object) },
  }));

  const run = (args: readonly string[], input: string) =>
    kubectl(world.kube, ['-n', namespace, ...args, '-f', '-'], input);

  test('applies every sample on the client, then on the server, again and again', async () => {
    expect(new Set(sampled.map(({ kind }) => kind))).toEqual(new Set(definitions.map(({ type }) => type.kind)));
    const input = [...sampled, ...bare].map((each) => stringify(each)).join('---\n');
    const done = { status: 0, stderr: '' };
    expect(await run(['apply'], input)).toMatchObject(done);
    for (const _ of [1, 2]) expect(await run(['apply', '--server-side'], input)).toMatchObject(done);
    expect(await run(['diff', '--server-side'], input)).toEqual({ ...done, stdout: '' });
  });
});
