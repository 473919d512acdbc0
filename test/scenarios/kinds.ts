import { expect } from '@jest/globals';
import type { Seed } from '../../src/reference/cloud-api/seed/schema.ts';
import { secretMark } from '../support/world.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * What the conformance suite must know of a kind; a row for each. Of some kinds one object is made, whose id the service
 * assigns; others put parts of their own into a parent that the spec names.
 */
export interface KindCase {
  readonly kind: string;
  /** Only where the service assigns the id: the text field, of spec and of body, that tells this from other objects. */
  readonly label?: { readonly spec: string; readonly body: string };
  /** The fields of the spec that name the parents. */
  readonly ids: (parents: Parents) => Json;
  /** The one object, or every part. */
  readonly externals: readonly ExternalCase[];
}

/** What the conformance suite must know of an object in the cloud. */
export interface ExternalCase {
  /** Field of the spec; undefined where the fields are the spec's own. */
  readonly name: string | undefined;
  readonly condition: string;
  /** In the cloud API; the collection, where the service assigns the id. */
  readonly path: (parents: Parents) => string;
  readonly spec: Json;
  /** The body of the one POST or PUT that the spec makes. */
  readonly sent: Json;
  /**
   * Each field changed: its new value, and what that is in a body. One PATCH has that and no more; one PUT has the rest
   * as it was.
   */
  readonly changes: readonly { readonly field: string; readonly spec: Json; readonly sent: Json }[];
  /** What somebody else puts there, and the field it is seen in. */
  readonly drift: { readonly body: Json; readonly field: string };
  /** Status fields, and what they are in the cloud's answer. */
  readonly status: (shown: Readonly<Record<string, string>>) => Json;
}

/** The spec of a kind that makes all of these externals. */
export function specOf(
  { ids }: KindCase,
  parents: Parents,
  externals: readonly ExternalCase[],
  fieldsOf = ({ spec }: ExternalCase): Json => spec,
): Json {
  const fields = externals.map((each) => (each.name === undefined ? fieldsOf(each) : { [each.name]: fieldsOf(each) }));
  return Object.assign({}, ids(parents), ...fields);
}

/** Ids of one test's own edges and route: a module is the only one of its parent. */
export interface Parents {
  readonly edge: string;
  readonly route: string;
  readonly tlsEdge: string;
}

/** The parents of test number `n`, and the seed that makes them. */
export function parentsOf(n: number): Parents {
  return { edge: `edghts_t${n}`, route: `edghtsrt_t${n}`, tlsEdge: `edgtls_t${n}` };
}

export function seedOf({ edge, route, tlsEdge }: Parents): Seed {
  return { https_edges: [{ id: edge, routes: [route] }], tls_edges: [tlsEdge] };
}

/** What the modules refer to. */
export const ipPolicies = ['ipp_1', 'ipp_2'];
export const authorities = ['ca_1', 'ca_2'];
export const secret = (name: string) => `${secretMark}-${name}`;
export const metadata = (name: string) => `<EntityDescriptor entityID="${secret(name)}"/>`;
/** Data of the Secret `hooks` and the ConfigMap `idp`, in the namespace of each test. */
export const hooks = { one: secret('1'), two: secret('2') };
export const idp = { xml: metadata('1') };

/** Seeded into the cloud, because the API cannot create it. */
export const endpointConfiguration = 'ec_2scenarioScenarioScenario0001';

const reservedAddr: ExternalCase = {
  name: undefined,
  condition: 'Ready',
  path: () => '/reserved_addrs',
  spec: { description: 'a database', metadata: '{"team":"ü"}', region: 'eu' },
  sent: { description: 'a database', metadata: '{"team":"ü"}', region: 'eu' },
  changes: [
    { field: 'description', spec: { description: 'another' }, sent: { description: 'another' } },
    { field: 'metadata', spec: { metadata: 'm2' }, sent: { metadata: 'm2' } },
    {
      field: 'endpointConfigurationID',
      spec: { endpointConfigurationID: endpointConfiguration },
      sent: { endpoint_configuration_id: endpointConfiguration },
    },
  ],
  drift: { body: { description: 'drifted' }, field: 'description' },
  status: (addr) => ({
    id: addr.id,
    uri: addr.uri,
    addr: addr.addr,
    host: addr.addr?.split(':')[0],
    port: Number(addr.addr?.split(':')[1]),
    region: 'eu',
    createdAt: addr.created_at,
  }),
};

const botUser: ExternalCase = {
  name: undefined,
  condition: 'Ready',
  path: () => '/bot_users',
  spec: { name: 'deployer', active: true },
  sent: { name: 'deployer', active: true },
  changes: [
    { field: 'name', spec: { name: 'renamed' }, sent: { name: 'renamed' } },
    { field: 'active', spec: { active: false }, sent: { active: false } },
  ],
  drift: { body: { active: false }, field: 'active' },
  status: (bot) => ({ id: bot.id, uri: bot.uri, createdAt: bot.created_at }),
};

const onRoute = (name: string) => (at: Parents) => `/edges/https/${at.edge}/routes/${at.route}/${name}`;
const onEdge = (name: string) => (at: Parents) => `/edges/https/${at.edge}/${name}`;
const switchedOff = { field: 'enabled', spec: { enabled: false }, sent: { enabled: false } };

export const saml: ExternalCase = {
  name: 'saml',
  condition: 'SamlReady',
  path: onRoute('saml'),
  spec: {
    optionsPassthrough: true,
    cookiePrefix: 'shop.',
    inactivityTimeoutSeconds: 0,
    maximumDurationSeconds: 4_294_967_295,
    idpMetadata: metadata('2'),
    forceAuthn: true,
    allowIdpInitiated: false,
    authorizedGroups: ['a', 'b'],
    nameidFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  },
  sent: {
    enabled: true,
    options_passthrough: true,
    cookie_prefix: 'shop.',
    inactivity_timeout: 0,
    maximum_duration: 4_294_967_295,
    idp_metadata: metadata('2'),
    force_authn: true,
    allow_idp_initiated: false,
    authorized_groups: ['a', 'b'],
    nameid_format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  },
  changes: [
    switchedOff,
    { field: 'optionsPassthrough', spec: { optionsPassthrough: false }, sent: { options_passthrough: false } },
    { field: 'cookiePrefix', spec: { cookiePrefix: 'x.' }, sent: { cookie_prefix: 'x.' } },
    { field: 'inactivityTimeoutSeconds', spec: { inactivityTimeoutSeconds: 60 }, sent: { inactivity_timeout: 60 } },
    { field: 'maximumDurationSeconds', spec: { maximumDurationSeconds: 0 }, sent: { maximum_duration: 0 } },
    { field: 'idpMetadata', spec: { idpMetadata: metadata('3') }, sent: { idp_metadata: metadata('3') } },
    {
      field: 'idpMetadata',
      spec: { idpMetadata: undefined, idpMetadataFrom: { configMapKeyRef: { name: 'idp', key: 'xml' } } },
      sent: { idp_metadata: idp.xml },
    },
    { field: 'forceAuthn', spec: { forceAuthn: false }, sent: { force_authn: false } },
    { field: 'allowIdpInitiated', spec: { allowIdpInitiated: true }, sent: { allow_idp_initiated: true } },
    { field: 'authorizedGroups', spec: { authorizedGroups: ['c'] }, sent: { authorized_groups: ['c'] } },
    { field: 'nameidFormat', spec: { nameidFormat: 'urn:x' }, sent: { nameid_format: 'urn:x' } },
  ],
  drift: { body: { idp_metadata: metadata('4') }, field: 'idpMetadata' },
  status: (shown) => ({
    entityID: shown.entity_id,
    assertionConsumerServiceURL: shown.assertion_consumer_service_url,
    singleLogoutURL: shown.single_logout_url,
    requestSigningCertificatePEM: expect.stringContaining('BEGIN CERTIFICATE'),
    metadataURL: shown.metadata_url,
    idpMetadataURL: '',
  }),
};

export const ipRestriction: ExternalCase = {
  name: 'ipRestriction',
  condition: 'IpRestrictionReady',
  path: onRoute('ip_restriction'),
  spec: { ipPolicyIDs: ['ipp_1'] },
  sent: { enabled: true, ip_policy_ids: ['ipp_1'] },
  changes: [
    switchedOff,
    { field: 'ipPolicyIDs', spec: { ipPolicyIDs: ipPolicies }, sent: { ip_policy_ids: ipPolicies } },
  ],
  drift: { body: { ip_policy_ids: ['ipp_2'] }, field: 'ipPolicyIDs' },
  status: () => ({}),
};

const secretRef = (key: string) => ({ secretRef: { name: 'hooks', key } });

export const webhookVerification: ExternalCase = {
  name: 'webhookVerification',
  condition: 'WebhookVerificationReady',
  path: onRoute('webhook_verification'),
  spec: { provider: 'github', ...secretRef('one') },
  sent: { enabled: true, provider: 'github', secret: hooks.one },
  changes: [
    switchedOff,
    { field: 'provider', spec: { provider: 'slack' }, sent: { provider: 'slack' } },
    { field: 'secretRef', spec: secretRef('two'), sent: { secret: hooks.two } },
  ],
  drift: { body: { provider: 'github', secret: secret('3') }, field: 'secretRef' },
  status: () => ({}),
};

export const compression: ExternalCase = {
  name: 'compression',
  condition: 'CompressionReady',
  path: onRoute('compression'),
  spec: {},
  sent: { enabled: true },
  changes: [switchedOff],
  drift: { body: { enabled: false }, field: 'enabled' },
  status: () => ({}),
};

const mutualTLS: ExternalCase = {
  name: 'mutualTLS',
  condition: 'MutualTLSReady',
  path: onEdge('mutual_tls'),
  spec: { certificateAuthorityIDs: ['ca_1'] },
  sent: { enabled: true, certificate_authority_ids: ['ca_1'] },
  changes: [
    switchedOff,
    {
      field: 'certificateAuthorityIDs',
      spec: { certificateAuthorityIDs: authorities },
      sent: { certificate_authority_ids: authorities },
    },
  ],
  drift: { body: { certificate_authority_ids: [] }, field: 'certificateAuthorityIDs' },
  status: () => ({}),
};

const tlsTermination: ExternalCase = {
  name: 'tlsTermination',
  condition: 'TlsTerminationReady',
  path: onEdge('tls_termination'),
  spec: { minVersion: '1.3' },
  sent: { enabled: true, min_version: '1.3' },
  changes: [switchedOff, { field: 'minVersion', spec: { minVersion: '1.2' }, sent: { min_version: '1.2' } }],
  drift: { body: { min_version: '1.2' }, field: 'minVersion' },
  status: () => ({ terminateAt: 'edge' }),
};

export const rules = (...types: readonly string[]) => ({
  inbound: types.map((type) => ({
    name: type,
    expressions: ["conn.Geo == 'x'"],
    actions: [{ type, config: { a: 1 } }],
  })),
  unknown: { passes: ['through'] },
});

const trafficPolicy: ExternalCase = {
  name: undefined,
  condition: 'Ready',
  path: (at) => `/edges/tls/${at.tlsEdge}/traffic_policy`,
  spec: { policy: rules('log', 'deny') },
  sent: { enabled: true, value: JSON.stringify(rules('log', 'deny')) },
  changes: [
    switchedOff,
    { field: 'policy', spec: { policy: rules('unheard-of') }, sent: { value: JSON.stringify(rules('unheard-of')) } },
  ],
  drift: { body: { value: JSON.stringify(rules('log')) }, field: 'policy' },
  status: () => ({ ruleCount: 2, appliedPolicyHash: expect.stringMatching(/^[0-9a-f]{16}$/) }),
};

/** Their ids are assigned by the service. */
export const identifiedCases: readonly (KindCase & Required<Pick<KindCase, 'label'>>)[] = [
  {
    kind: 'ReservedAddr',
    label: { spec: 'description', body: 'description' },
    ids: () => ({}),
    externals: [reservedAddr],
  },
  { kind: 'BotUser', label: { spec: 'name', body: 'name' }, ids: () => ({}), externals: [botUser] },
];

export const routeModules: KindCase = {
  kind: 'HttpsRouteModules',
  ids: ({ edge, route }) => ({ edgeID: edge, routeID: route }),
  externals: [saml, ipRestriction, webhookVerification, compression],
};

export const edgePolicy: KindCase = {
  kind: 'TlsEdgeTrafficPolicy',
  ids: ({ tlsEdge }) => ({ edgeID: tlsEdge }),
  externals: [trafficPolicy],
};

/** They are made of parts of a parent. */
export const partCases: readonly KindCase[] = [
  routeModules,
  { kind: 'HttpsEdgeModules', ids: ({ edge }) => ({ edgeID: edge }), externals: [mutualTLS, tlsTermination] },
  edgePolicy,
];

export const kindCases: readonly KindCase[] = [...identifiedCases, ...partCases];
